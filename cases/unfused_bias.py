"""On a GPU, addmm before pointwise ops is split, so that the bias joins their kernel."""

import torch
import torch.nn.functional as F

EXPECT = {
    "graph_breaks": 0,
    "max_op_calls": 1,
    "cpu": {"not_rules": ["addmm-unfused-bias"], "max_kernels": 1, "numerics": True},
    "cuda": {"rules": ["addmm-unfused-bias"], "outcome": "fused-add"},
}


def inputs(device, dtype, size=256):
    x, weight = (torch.randn(size, size, device=device) for _ in range(2))
    return x, weight, torch.randn(size, device=device)


def fn(x, weight, bias):
    return F.gelu(F.linear(x, weight, bias))
