"""Experts of a mixture as one batched product: the gather of their tokens is an indexed load, the sum a reduction."""

import torch

EXPECT = {"graph_breaks": 0, "cpu": {"numerics": True}}


def inputs(device, dtype, tokens=64, width=32, experts=4, chosen=2):
    x = torch.randn(tokens, width, device=device, dtype=dtype)
    weight = torch.randn(experts, width, width, device=device, dtype=dtype)
    gate = torch.randn(experts, width, device=device, dtype=dtype)
    return x, weight, gate, chosen


def fn(x, weight, gate, chosen):
    scores, experts = torch.softmax(x @ gate.T, dim=-1).topk(chosen, dim=-1)
    outputs = torch.bmm(x.expand(weight.shape[0], *x.shape), weight)
    rows = torch.arange(x.shape[0], device=x.device).unsqueeze(-1)
    return (outputs[experts, rows] * scores.unsqueeze(-1)).sum(1)
