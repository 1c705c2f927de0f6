"""One decoding step: the new key and value are written into the cache in place, attention reads it up to here."""

import torch
import torch.nn.functional as F

EXPECT = {"rules": ["mutation-functionalized"], "graph_breaks": 0, "cpu": {"numerics": True}}


def inputs(device, dtype, batch=2, heads=4, longest=128):
    step = (batch, heads, 1, 32)
    whole = (batch, heads, longest, 32)
    tensors = [torch.randn(step, device=device, dtype=dtype) for _ in range(3)]
    caches = [torch.zeros(whole, device=device, dtype=dtype) for _ in range(2)]
    return *tensors, *caches, torch.tensor([5], device=device)


def fn(query, key, value, keys, values, position):  # noqa: PLR0913, PLR0917 - what a step gets
    keys.index_copy_(2, position, key)
    values.index_copy_(2, position, value)
    seen = torch.arange(keys.shape[2], device=keys.device) <= position
    return F.scaled_dot_product_attention(query, keys, values, attn_mask=seen[None, None, None])
