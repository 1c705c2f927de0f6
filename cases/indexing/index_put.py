"""Rows are replaced where an index says: functional index_put, a copy and an indexed store."""

import torch

EXPECT = {"graph_breaks": 0, "cpu": {"numerics": True}}


def inputs(device, dtype, rows=128, width=64):
    x = torch.randn(rows, width, device=device, dtype=dtype)
    return x, torch.arange(0, rows, 4, device=device)


def fn(x, index):
    changed = x * 2
    changed[index] = 0.0
    return changed + 1
