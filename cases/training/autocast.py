"""A step under autocast: the conversions to bfloat16 are ops of the graph, and join the kernels around the products."""

import torch
from torch import nn

BACKWARD = True
EXPECT = {"graph_breaks": 0}


def inputs(device, dtype, batch=32, width=64):
    model = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width)).to(device)
    return model, torch.randn(batch, width, device=device)


def fn(model, x):
    with torch.autocast(x.device.type, dtype=torch.bfloat16):
        return model(x).float().square().mean()
