"""Softmax of scaled scores: a pattern moves the scale behind the subtraction of the maximum, all in one kernel."""

import torch

EXPECT = {
    "rules": ["scaled-softmax"],
    "graph_breaks": 0,
    "max_kernels": 1,
    "max_op_calls": 0,
    "cpu": {"numerics": True},
}


def inputs(device, dtype, rows=512, width=512):
    return (torch.randn(rows, width, device=device, dtype=dtype),)


def fn(x):
    return torch.softmax(x * 0.125, dim=-1)
