"""A sum of everything: one row cannot fill a GPU, so the reduction is split in two kernels, parts and their sum."""

import torch

EXPECT = {
    "rules": ["reduction-fusion"],
    "graph_breaks": 0,
    "max_op_calls": 0,
    "cpu": {"max_kernels": 1, "numerics": True},
    "cuda": {"min_kernels": 2, "max_kernels": 2},
}


def inputs(device, dtype, size=1_048_576):
    return (torch.randn(size, device=device, dtype=dtype),)


def fn(x):
    return torch.sum(x.float().square())
