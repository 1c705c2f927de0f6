"""A batched product with a full matrix added: baddbmm keeps both on either side, and copies the matrix first."""

import torch

EXPECT = {"graph_breaks": 0, "max_op_calls": 1, "cpu": {"numerics": True}}


def inputs(device, dtype, batch=8, rows=64, width=32):
    x = torch.randn(batch, rows, width, device=device, dtype=dtype)
    y = torch.randn(batch, width, rows, device=device, dtype=dtype)
    return x, y, torch.randn(batch, rows, rows, device=device, dtype=dtype)


def fn(x, y, bias):
    return torch.sigmoid(torch.baddbmm(bias, x, y, beta=0.5, alpha=0.125))
