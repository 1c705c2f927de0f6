"""Grouped-query attention with repeated key heads: the repetition is stored before SDPA, which needs whole tensors."""

import torch
import torch.nn.functional as F

EXPECT = {"rules": ["view-elimination"], "graph_breaks": 0, "cpu": {"numerics": True}}


def inputs(device, dtype, batch=2, length=64, groups=2):
    query = torch.randn(batch, 8, length, 32, device=device, dtype=dtype)
    key, value = (
        torch.randn(batch, groups, length, 32, device=device, dtype=dtype) for _ in range(2)
    )
    return query, key, value


def fn(query, key, value):
    repeats = query.shape[1] // key.shape[1]
    key, value = (part.repeat_interleave(repeats, dim=1) for part in (key, value))
    return F.scaled_dot_product_attention(query, key, value)
