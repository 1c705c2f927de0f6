"""scaled_dot_product_attention is a library kernel already: the compiler keeps the call."""

import torch
import torch.nn.functional as F

EXPECT = {
    "not_rules": ["sdpa-pattern", "pointwise-fusion"],
    "graph_breaks": 0,
    "cpu": {"max_op_calls": 1, "max_kernels": 0, "numerics": True},
}


def inputs(device, dtype, batch=2, length=64):
    shape = (batch, 4, length, 32)
    return tuple(torch.randn(shape, device=device, dtype=dtype) for _ in range(3))


def fn(query, key, value):
    return F.scaled_dot_product_attention(query, key, value, is_causal=True)
