"""A detour through float64 is removed: the values never leave float32."""

import torch

EXPECT = {
    "rules": ["dtype-roundtrip-removed"],
    "graph_breaks": 0,
    "max_kernels": 1,
    "max_op_calls": 0,
    "cpu": {"numerics": True},
}


def inputs(device, dtype, size=4096):
    return (torch.randn(size, device=device, dtype=torch.float32),)


def fn(x):
    return torch.relu(x.double().float()) + 1
