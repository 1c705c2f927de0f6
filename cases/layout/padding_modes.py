"""Reflecting padding before a difference: read with other indices, no padded copy exists."""

import torch
import torch.nn.functional as F

EXPECT = {"graph_breaks": 0, "max_kernels": 1, "max_op_calls": 0, "cpu": {"numerics": True}}


def inputs(device, dtype, batch=4, length=512):
    return (torch.randn(batch, 8, length, device=device, dtype=dtype),)


def fn(x):
    padded = F.pad(x, (1, 1), mode="reflect")
    return padded[..., 2:] - padded[..., :-2]
