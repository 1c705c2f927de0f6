"""The same expression written twice is computed once."""

import torch

EXPECT = {
    "rules": ["common-subexpression"],
    "graph_breaks": 0,
    "max_kernels": 1,
    "max_op_calls": 0,
    "cpu": {"numerics": True},
}


def inputs(device, dtype, size=4096):
    return (torch.randn(size, device=device, dtype=dtype),)


def fn(x):
    return torch.sin(x) * torch.exp(x) + torch.sin(x)
