"""index_add sums rows by a key: decomposed to an indexed store that adds, with the scale fused into it."""

import torch

EXPECT = {"graph_breaks": 0, "max_op_calls": 0, "cpu": {"numerics": True}}


def inputs(device, dtype, rows=256, keys=32):
    values = torch.randn(rows, 64, device=device, dtype=torch.float32)
    return torch.zeros(keys, 64, device=device), torch.randint(keys, (rows,), device=device), values


def fn(sums, keys, values):
    return torch.index_add(sums, 0, keys, values * 0.5)
