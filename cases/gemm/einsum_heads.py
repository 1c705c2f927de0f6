"""An einsum over heads is views around one bmm: what the compiler adds is only where the copies go."""

import torch

EXPECT = {
    "rules": ["view-elimination"],
    "graph_breaks": 0,
    "max_op_calls": 1,
    "cpu": {"numerics": True},
}


def inputs(device, dtype, batch=2, length=64, width=16):
    shape = (batch, length, 4, width)
    return tuple(torch.randn(shape, device=device, dtype=dtype) for _ in range(2))


def fn(query, key):
    return torch.einsum("blhd,bmhd->bhlm", query, key) * 0.25
