"""A result that nothing uses is not computed."""

import torch

EXPECT = {
    "rules": ["dead-code"],
    "graph_breaks": 0,
    "max_kernels": 1,
    "max_op_calls": 0,
    "cpu": {"numerics": True},
}


def inputs(device, dtype, size=4096):
    return (torch.randn(size, device=device, dtype=dtype),)


def fn(x):
    unused = torch.exp(x).sum()  # noqa: F841 - what this case is about
    return torch.relu(x) + 1
