"""torch.cond keeps a branch inside the graph: both ways are compiled, a value chooses at run time."""

import torch

EXPECT = {"graph_breaks": 0, "cpu": {"numerics": True}}


def inputs(device, dtype, rows=64, width=64):
    return (torch.rand(rows, width, device=device, dtype=dtype),)


def fn(x):
    scaled = x * 2
    return torch.cond(scaled.sum() > 0, torch.sin, torch.cos, (scaled,))
