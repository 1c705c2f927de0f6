"""Indexing whose result nothing uses: Dynamo's graph no longer holds it, as eager mode still makes its views."""

import torch

EXPECT = {
    "rules": ["dead-code"],
    "graph_breaks": 0,
    "cpu": {"numerics": True},
}


def inputs(device, dtype, rows=128):
    return (torch.randn(rows, rows, device=device, dtype=dtype),)


def fn(x):
    unused = x[:, None, :]  # noqa: F841 - what this case is about
    return torch.relu(x) * 2
