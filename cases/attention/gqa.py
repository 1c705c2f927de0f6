"""Grouped-query attention: eight query heads read two key heads; SDPA takes both as they are, none is repeated here."""

import torch
import torch.nn.functional as F

EXPECT = {"not_rules": ["sdpa-pattern"], "graph_breaks": 0, "cpu": {"numerics": True}}


def inputs(device, dtype, batch=2, length=64, groups=2):
    query = torch.randn(batch, 8, length, 32, device=device, dtype=dtype)
    key, value = (
        torch.randn(batch, groups, length, 32, device=device, dtype=dtype) for _ in range(2)
    )
    return query, key, value


def fn(query, key, value):
    return F.scaled_dot_product_attention(query, key, value, is_causal=True, enable_gqa=True)
