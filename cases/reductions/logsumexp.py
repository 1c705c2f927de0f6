"""logsumexp is decomposed into a maximum, an exponential sum and a logarithm: one kernel, the input read in place."""

import torch

EXPECT = {"graph_breaks": 0, "max_kernels": 1, "max_op_calls": 0, "cpu": {"numerics": True}}


def inputs(device, dtype, rows=256, width=512):
    return (torch.randn(rows, width, device=device, dtype=dtype),)


def fn(x):
    return torch.logsumexp(x, dim=-1).mul(0.5)
