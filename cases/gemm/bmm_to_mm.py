"""A batched product with a batch of one becomes a plain mm: the batch dimension is only a view."""

import torch

EXPECT = {
    "max_op_calls": 1,
    "graph_breaks": 0,
    "cpu": {"numerics": True},
    "cuda": {"rules": ["bmm-to-mm"]},
}


def inputs(device, dtype, rows=128, width=256):
    x = torch.randn(1, rows, width, device=device, dtype=dtype)
    return x, torch.randn(1, width, rows, device=device, dtype=dtype)


def fn(x, y):
    return torch.relu(torch.bmm(x, y))
