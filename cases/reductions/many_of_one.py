"""Sum, maximum and mean of one tensor: eager mode reads it three times, one kernel with three results reads it once."""

import torch

EXPECT = {
    "rules": ["reduction-fusion"],
    "graph_breaks": 0,
    "max_kernels": 1,
    "max_op_calls": 0,
    "cpu": {"numerics": True},
}


def inputs(device, dtype, rows=512, width=1024):
    return (torch.randn(rows, width, device=device, dtype=dtype),)


def fn(x):
    return x.sum(-1), x.amax(-1), x.abs().mean(-1)
