"""Masks by comparison and where: no mask is stored, comparison and choice run in one kernel."""

import torch

EXPECT = {
    "rules": ["pointwise-fusion"],
    "graph_breaks": 0,
    "max_kernels": 1,
    "max_op_calls": 0,
    "cpu": {"numerics": True},
}


def inputs(device, dtype, rows=256, width=128):
    return tuple(torch.randn(rows, width, device=device, dtype=dtype) for _ in range(2))


def fn(x, y):
    return torch.where((x > 0) & (y > x), x, y.masked_fill(y < 0, 0.0))
