"""flex_attention with a score rule: eager mode stores the score matrix, compiled it is one kernel with the rule inlined."""

import torch
from torch.nn.attention.flex_attention import flex_attention

EXPECT = {"rules": ["flex-attention"], "graph_breaks": 0, "max_op_calls": 0}


def inputs(device, dtype, batch=1, length=128):
    shape = (batch, 2, length, 64)
    return tuple(torch.randn(shape, device=device, dtype=dtype) for _ in range(3))


def soft_cap(score, *_):
    return 20 * torch.tanh(score / 20)


def fn(query, key, value):
    return flex_attention(query, key, value, score_mod=soft_cap)
