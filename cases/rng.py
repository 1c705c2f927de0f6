"""Random noise is drawn by Inductor's own generator inside the kernel that uses it."""

import torch

EXPECT = {
    "rules": ["rng-replaced"],
    "graph_breaks": 0,
    "max_kernels": 1,
    "cuda": {"max_kernels": 2},
}


def inputs(device, dtype, size=4096):
    return (torch.randn(size, device=device, dtype=dtype),)


def fn(x):
    return x + 0.1 * torch.randn_like(x)
