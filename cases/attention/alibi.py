"""Attention with ALiBi: distances and slopes are computed inside the kernels, no bias matrix is ever stored."""

import torch

EXPECT = {"rules": ["constant-folded"], "graph_breaks": 0, "cpu": {"numerics": True}}


def inputs(device, dtype, batch=2, length=64):
    shape = (batch, 4, length, 32)
    return tuple(torch.randn(shape, device=device, dtype=dtype) for _ in range(3))


def fn(query, key, value):
    positions = torch.arange(query.shape[2], device=query.device)
    distance = (positions[None, :] - positions[:, None]).abs().neg()
    slopes = 2.0 ** -torch.arange(1, query.shape[1] + 1, device=query.device)
    bias = slopes[:, None, None] * distance
    scores = query @ key.transpose(-2, -1) * query.shape[-1] ** -0.5 + bias.to(query.dtype)
    return torch.softmax(scores, dim=-1) @ value
