"""A custom op stays opaque: the compiler calls it as it is, and fuses what lies on both sides of it."""

import torch

EXPECT = {"graph_breaks": 0, "max_op_calls": 3, "cpu": {"numerics": True}}


@torch.library.custom_op("compdiff_cases::double_then_shift", mutates_args=())
def double_then_shift(x: torch.Tensor) -> torch.Tensor:
    return x * 2 + 1


@double_then_shift.register_fake
def _(x):
    return torch.empty_like(x)


def inputs(device, dtype, rows=128, width=64):
    return (torch.randn(rows, width, device=device, dtype=dtype),)


def fn(x):
    return torch.relu(double_then_shift(torch.sigmoid(x) * 3)) - 1
