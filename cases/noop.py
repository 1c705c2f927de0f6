"""Ops that change nothing are removed: adding 0, multiplying by 1, views that undo each other."""

import torch

EXPECT = {
    "rules": ["noop-removed", "view-elimination"],
    "graph_breaks": 0,
    "max_kernels": 1,
    "max_op_calls": 0,
    "cpu": {"numerics": True},
}


def inputs(device, dtype, size=64):
    return (torch.randn(size, size, device=device, dtype=dtype),)


def fn(x):
    same = (x + 0) * 1
    return torch.relu(same.view(-1).view(x.shape))
