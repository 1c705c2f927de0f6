"""Layer norm in training: mean and scale are saved, the gradients of weight and bias are sums over rows."""

import torch
import torch.nn.functional as F

BACKWARD = True
EXPECT = {"rules": ["decomposition"], "graph_breaks": 0, "cuda": {"rules": ["reduction-fusion"]}}


def inputs(device, dtype, rows=256, width=128):
    x = torch.randn(rows, width, device=device, dtype=dtype, requires_grad=True)
    weight, bias = (
        torch.randn(width, device=device, dtype=dtype, requires_grad=True) for _ in range(2)
    )
    return x, weight, bias


def fn(x, weight, bias):
    return F.layer_norm(x, (x.shape[-1],), weight, bias)
