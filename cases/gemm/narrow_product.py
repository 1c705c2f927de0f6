"""A very long, narrow product is bound by memory: computed as a multiplication and a sum in a kernel, not as a GEMM."""

import torch

COMPILE = {"options": {"post_grad_fusion_options": {"decompose_mm_pass": {}}}}
EXPECT = {"graph_breaks": 0, "cuda": {"max_op_calls": 0}, "cpu": {"numerics": True}}


def inputs(device, dtype, rows=20480, width=8):
    x = torch.randn(rows, width, device=device, dtype=dtype)
    return x, torch.randn(width, width, device=device, dtype=dtype)


def fn(x, weight):
    return torch.relu(torch.mm(x, weight))
