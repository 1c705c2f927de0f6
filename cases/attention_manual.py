"""Attention written out with matmul and softmax is recognised and becomes one SDPA call."""

import torch

EXPECT = {
    "rules": ["sdpa-pattern"],
    "graph_breaks": 0,
    "cpu": {"max_op_calls": 1, "numerics": True},
}


def inputs(device, dtype, batch=2, length=64):
    shape = (batch, 4, length, 32)
    return tuple(torch.randn(shape, device=device, dtype=dtype) for _ in range(3))


def fn(query, key, value):
    scores = torch.matmul(query, key.transpose(-2, -1)) * query.shape[-1] ** -0.5
    return torch.matmul(torch.softmax(scores, dim=-1), value)
