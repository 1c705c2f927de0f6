"""A matrix product with odd sizes, which a GPU's compiler pads before it is computed."""

import torch

EXPECT = {"graph_breaks": 0, "cpu": {"numerics": True}, "cuda": {"rules": ["matmul-padded"]}}


def inputs(device, dtype, size=1025):
    return tuple(torch.rand(size, size, device=device, dtype=dtype) for _ in range(2))


def fn(x, y):
    return torch.relu(x @ y)
