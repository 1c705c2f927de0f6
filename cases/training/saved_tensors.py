"""What is kept for the backward: eager mode saves each op's input, the partitioner saves few and computes the rest again."""

import torch

BACKWARD = True
EXPECT = {"rules": ["pointwise-fusion"], "graph_breaks": 0, "max_kernels": 2}


def inputs(device, dtype, rows=256, width=256):
    return (torch.randn(rows, width, device=device, dtype=dtype, requires_grad=True),)


def fn(x):
    return torch.sin(torch.exp(torch.tanh(x))) * torch.sigmoid(x)
