"""A matrix times a vector: eager mode calls addmv, compiled it is a reduction in a kernel where that is cheaper."""

import torch

EXPECT = {"graph_breaks": 0, "cpu": {"numerics": True}}


def inputs(device, dtype, rows=512, width=256):
    x = torch.randn(rows, width, device=device, dtype=dtype)
    return x, torch.randn(width, device=device, dtype=dtype)


def fn(matrix, vector):
    return torch.tanh(torch.mv(matrix, vector))
