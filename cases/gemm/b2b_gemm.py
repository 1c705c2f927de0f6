"""Two products in a row with a pointwise op between them, on sizes where one kernel could keep the middle on chip."""

import torch

COMPILE = {"options": {"b2b_gemm_pass": True}}
EXPECT = {"graph_breaks": 0, "cpu": {"numerics": True}, "cuda": {"rules": ["back-to-back-gemm"]}}


def inputs(device, dtype, rows=256, width=32, hidden=256):
    shapes = ((rows, width), (width, hidden), (hidden, width))
    return tuple(torch.randn(shape, device=device, dtype=dtype) / 16 for shape in shapes)


def fn(x, up, down):
    return torch.mm(torch.relu(torch.mm(x, up)), down)
