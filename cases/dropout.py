"""Dropout draws its mask inside the fused kernel: other random values than eager mode's."""

import torch
import torch.nn.functional as F

EXPECT = {
    "rules": ["rng-replaced", "pointwise-fusion"],
    "graph_breaks": 0,
    "max_kernels": 1,
    "cuda": {"max_kernels": 2},
}


def inputs(device, dtype, rows=256, width=512):
    return (torch.randn(rows, width, device=device, dtype=dtype),)


def fn(x):
    return F.dropout(torch.relu(x), p=0.3, training=True) * 2
