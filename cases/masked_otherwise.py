"""Attention that gets a causal mask as a tensor in eager mode, and as a flag when compiled: one line, called otherwise."""

import torch
from torch.nn.functional import scaled_dot_product_attention

EXPECT = {
    "rules": ["other-code-path"],
    "graph_breaks": 0,
    "cpu": {"numerics": True},
}


def inputs(device, dtype, tokens=128):
    return tuple(torch.rand(2, 4, tokens, 64, device=device, dtype=dtype) for _ in range(3))


def fn(query, key, value):
    mask = causal_mask(query)
    return scaled_dot_product_attention(query, key, value, attn_mask=mask, is_causal=mask is None)


def causal_mask(query):
    if torch.compiler.is_compiling():
        return None
    tokens = query.shape[2]
    return torch.ones(tokens, tokens, dtype=torch.bool, device=query.device).tril()
