"""argmax with what leads to it: value and index are reduced together in one kernel."""

import torch

EXPECT = {"rules": ["reduction-fusion"], "graph_breaks": 0, "max_kernels": 1, "max_op_calls": 0}


def inputs(device, dtype, rows=128, width=1000):
    return (torch.randn(rows, width, device=device, dtype=dtype),)


def fn(x):
    return torch.argmax(x * x, dim=-1)
