"""Tensors whose values are known at compile time become constants in the kernel."""

import torch

EXPECT = {
    "rules": ["constant-folded"],
    "graph_breaks": 0,
    "max_kernels": 1,
    "max_op_calls": 0,
    "cpu": {"numerics": True},
}


def inputs(device, dtype, size=512):
    return (torch.randn(size, size, device=device, dtype=dtype),)


def fn(x):
    scale = torch.full((x.shape[-1],), 2.0, device=x.device) * 3
    return x * scale + torch.arange(x.shape[-1], device=x.device)
