"""A linear layer with int8 weights: the weight is widened and scaled in a kernel before, or inside, the product."""

import torch

EXPECT = {"graph_breaks": 0, "cpu": {"numerics": True}}
LARGEST = 127


def inputs(device, dtype, rows=32, width=128, features=64):
    weight = torch.randint(-LARGEST, LARGEST, (features, width), device=device, dtype=torch.int8)
    scale = torch.rand(features, device=device, dtype=dtype) / LARGEST
    return torch.randn(rows, width, device=device, dtype=dtype), weight, scale


def fn(x, weight, scale):
    return torch.nn.functional.linear(x, weight.to(x.dtype)) * scale
