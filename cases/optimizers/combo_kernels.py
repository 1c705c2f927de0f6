"""Independent pointwise kernels, launched as one by combo_kernels: fewer launches, the same traffic."""

import torch

COMPILE = {"options": {"combo_kernels": True, "combo_kernels_autotune": 0}}
EXPECT = {"graph_breaks": 0, "max_op_calls": 0, "cuda": {"max_kernels": 1}}


def inputs(device, dtype, rows=64, width=256):
    x = torch.randn(rows, width, device=device, dtype=dtype)
    y = torch.randn(2 * rows, width, device=device, dtype=dtype)
    return x, y, torch.randn(4 * rows, width, device=device, dtype=dtype)


def fn(x, y, z):
    return torch.relu(x) + 1, torch.sigmoid(y) * 2, torch.tanh(z) - 3
