"""A branch on a tensor's value breaks the graph: two graphs, a copy to the host between them."""

import torch

EXPECT = {
    "rules": ["reduction-fusion"],
    "graph_breaks": 1,
    "recompiles": 0,
    "cpu": {"numerics": True},
}


def inputs(device, dtype, rows=64, width=256):
    return (torch.rand(rows, width, device=device, dtype=dtype),)


def fn(x):
    scaled = x * 2
    if scaled.sum() > 0:
        scaled = scaled + 1
    return torch.softmax(scaled, dim=-1)
