"""A residual addition and the layer norm after it run in one reduction kernel."""

import torch
import torch.nn.functional as F

EXPECT = {
    "rules": ["reduction-fusion"],
    "graph_breaks": 0,
    "max_kernels": 1,
    "max_op_calls": 0,
    "cpu": {"numerics": True},
}


def inputs(device, dtype, rows=256, width=512):
    x, residual = (torch.randn(rows, width, device=device, dtype=dtype) for _ in range(2))
    weight, bias = (torch.randn(width, device=device, dtype=dtype) for _ in range(2))
    return x, residual, weight, bias


def fn(x, residual, weight, bias):
    return F.layer_norm(x + residual, (x.shape[-1],), weight, bias)
