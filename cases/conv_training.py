"""A convolution block in training: its gradients come in another layout, so autograd copies them."""

import torch
from torch import nn

BACKWARD = True
EXPECT = {"graph_breaks": 0, "cpu": {"rules": ["gradient-copied", "reduction-fusion"]}}


def inputs(device, dtype, batch=2, size=16):
    return (torch.randn(batch, 3, size, size, device=device, dtype=dtype),)


fn = nn.Sequential(
    nn.Conv2d(3, 8, 3, padding=1, bias=False),
    nn.BatchNorm2d(8),
    nn.ReLU(),
    nn.Conv2d(8, 8, 3, padding=1, bias=False),
    nn.MaxPool2d(4),
)
