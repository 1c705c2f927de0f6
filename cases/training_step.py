"""Forward and backward of an MLP with a loss: both directions are compiled."""

import torch
import torch.nn.functional as F
from torch import nn

BACKWARD = True
EXPECT = {
    "rules": ["decomposition", "loss-fused", "reduction-fusion", "view-elimination"],
    "graph_breaks": 0,
    "cpu": {"numerics": True},
}


def inputs(device, dtype, batch=64, width=128, classes=10):
    model = nn.Sequential(
        nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, classes)
    ).to(device=device, dtype=dtype)
    x = torch.randn(batch, width, device=device, dtype=dtype)
    return model, x, torch.randint(classes, (batch,), device=device)


def fn(model, x, target):
    return F.cross_entropy(model(x), target)
