"""Softmax is decomposed into five ops that run in one kernel, on a GPU by the online algorithm."""

import torch

EXPECT = {
    "graph_breaks": 0,
    "max_kernels": 1,
    "max_op_calls": 0,
    "cpu": {"rules": ["decomposition"], "not_rules": ["online-softmax"], "numerics": True},
    "cuda": {"rules": ["online-softmax"]},
}


def inputs(device, dtype, rows=256, columns=512):
    return (torch.randn(rows, columns, device=device, dtype=dtype),)


def fn(x):
    return torch.softmax(x, dim=-1)
