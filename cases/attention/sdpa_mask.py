"""Attention with an additive mask, written out: recognised, and the mask goes into the one call."""

import torch

EXPECT = {"rules": ["sdpa-pattern"], "graph_breaks": 0, "cpu": {"numerics": True}}


def inputs(device, dtype, batch=2, length=64):
    shape = (batch, 4, length, 32)
    query, key, value = (torch.randn(shape, device=device, dtype=dtype) for _ in range(3))
    return query, key, value, torch.randn(batch, 1, length, length, device=device, dtype=dtype)


def fn(query, key, value, mask):
    scores = torch.matmul(query, key.transpose(-2, -1)) / query.shape[-1] ** 0.5 + mask
    return torch.matmul(torch.softmax(scores, dim=-1), value)
