"""Attention whose weights are returned too: no pattern may hide them, so the products stay and softmax is fused."""

import torch

EXPECT = {"not_rules": ["sdpa-pattern"], "graph_breaks": 0, "cpu": {"numerics": True}}


def inputs(device, dtype, batch=2, length=64):
    shape = (batch, 4, length, 32)
    return tuple(torch.randn(shape, device=device, dtype=dtype) for _ in range(3))


def fn(query, key, value):
    scores = torch.matmul(query, key.transpose(-2, -1)) * query.shape[-1] ** -0.5
    weights = torch.softmax(scores, dim=-1)
    return torch.matmul(weights, value), weights
