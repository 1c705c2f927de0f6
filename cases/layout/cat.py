"""Concatenation without a copy of its own: each part is computed straight into its place in the result."""

import torch

EXPECT = {
    "rules": ["pointwise-fusion"],
    "graph_breaks": 0,
    "max_op_calls": 0,
    "cpu": {"numerics": True},
}


def inputs(device, dtype, rows=128, width=64):
    return tuple(torch.randn(rows, width, device=device, dtype=dtype) for _ in range(3))


def fn(x, y, z):
    return torch.cat([torch.relu(x), y * 2, torch.sigmoid(z)], dim=1)
