"""A matrix product and a one-dimensional bias become one addmm, on a GPU with a bias epilogue.

cuBLASLt adds the bias as it writes the output; a CPU's addmm copies the bias into the output first.
"""

import torch

EXPECT = {
    "rules": ["mm-add-to-addmm"],
    "max_op_calls": 1,
    "graph_breaks": 0,
    "cpu": {"outcome": "seeded-output", "max_kernels": 0, "numerics": True},
    "cuda": {"outcome": "bias-epilogue"},
}


def inputs(device, dtype, size=256):
    x, w = (torch.randn(size, size, device=device, dtype=dtype) for _ in range(2))
    return x, w, torch.randn(size, device=device, dtype=dtype)


def fn(x, w, b):
    return torch.add(torch.matmul(x, w), b)
