"""Dropout in training: forward and backward draw the same mask from one seed, no mask is stored."""

import torch
import torch.nn.functional as F

BACKWARD = True
EXPECT = {"rules": ["rng-replaced"], "graph_breaks": 0}


def inputs(device, dtype, rows=256, width=128):
    return (torch.randn(rows, width, device=device, dtype=dtype, requires_grad=True),)


def fn(x):
    return F.dropout(torch.relu(x), p=0.2, training=True) * 2
