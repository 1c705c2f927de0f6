"""A causal mask by tril: positions are compared in the kernel, neither ones nor mask are ever stored."""

import torch

EXPECT = {"graph_breaks": 0, "max_kernels": 1, "max_op_calls": 0, "cpu": {"numerics": True}}


def inputs(device, dtype, batch=4, size=128):
    return (torch.randn(batch, size, size, device=device, dtype=dtype),)


def fn(scores):
    mask = torch.ones(scores.shape[-2:], device=scores.device, dtype=torch.bool).tril()
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)
