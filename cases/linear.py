"""A matrix product and an addition of a full matrix become one addmm, seeded with a copy of it."""

import torch

PARAMS = {
    "size64": {"size": 64, "device": "cuda"},
    "size4096": {"size": 4096, "device": "cuda"},
    "size256": {"size": 256, "device": "cpu"},
}
EXPECT = {
    "rules": ["mm-add-to-addmm"],
    "outcome": "seeded-output",
    "max_op_calls": 1,
    "graph_breaks": 0,
    "cpu": {"max_kernels": 0, "numerics": True},
}


def inputs(device, dtype, size=256):
    return tuple(torch.randn(size, size, device=device, dtype=dtype) for _ in range(3))


def fn(x, w, b):
    return torch.add(torch.matmul(x, w), b)
