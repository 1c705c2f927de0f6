"""A tensor unpacked by Python: eager mode makes all views at once, Dynamo traces one after another."""

import torch

BACKWARD = True
EXPECT = {
    "rules": ["view-elimination"],
    "graph_breaks": 0,
    "cpu": {"numerics": True},
}


def inputs(device, dtype):
    return (torch.randn(3, 64, 32, device=device, dtype=dtype, requires_grad=True),)


def fn(x):
    query, key, value = x * 2
    return torch.softmax(query @ key.T, -1) @ value
