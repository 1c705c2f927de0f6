"""Attention without a scale, after a permutation of (batch, length, heads, width): one call, one clone at most."""

import torch

EXPECT = {"rules": ["sdpa-pattern"], "graph_breaks": 0, "cpu": {"numerics": True}}


def inputs(device, dtype, batch=2, length=64):
    shape = (batch, length, 4, 32)
    return tuple(torch.randn(shape, device=device, dtype=dtype) for _ in range(3))


def fn(query, key, value):
    query, key, value = (part.permute(0, 2, 1, 3) for part in (query, key, value))
    scores = torch.matmul(query, key.transpose(-2, -1)).div(query.shape[-1] ** 0.5)
    return torch.matmul(torch.softmax(scores, dim=-1), value)
