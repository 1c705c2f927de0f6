"""topk stays a library call; what is done with its values is fused behind it, the scores before it in front."""

import torch

EXPECT = {"graph_breaks": 0, "max_op_calls": 1, "cpu": {"numerics": True}}


def inputs(device, dtype, rows=64, width=512):
    return (torch.randn(rows, width, device=device, dtype=dtype),)


def fn(x):
    values, indices = torch.topk(torch.sigmoid(x), 8, dim=-1)
    return values / values.sum(-1, keepdim=True), indices
