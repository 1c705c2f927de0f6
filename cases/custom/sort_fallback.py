"""sort has no lowering for rows this long: it stays ATen's call, and the work around it cannot join it."""

import torch

EXPECT = {"graph_breaks": 0, "max_op_calls": 1, "cpu": {"numerics": True}}


def inputs(device, dtype, rows=16, width=8192):
    return (torch.randn(rows, width, device=device, dtype=dtype),)


def fn(x):
    values, _ = torch.sort(x * 2, dim=-1)
    return values + 1
