"""A residual block in inference without freezing: each batch norm, with relu or sum, is one kernel after its convolution."""

import torch
from torch import nn

EXPECT = {"rules": ["pointwise-fusion"], "not_rules": ["conv-bn-folded"], "graph_breaks": 0}


class Model(nn.Module):
    def __init__(self, width, wider):
        super().__init__()
        self.first = nn.Conv2d(width, wider, 3, stride=2, padding=1, bias=False)
        self.second = nn.Conv2d(wider, wider, 3, padding=1, bias=False)
        self.shortcut = nn.Conv2d(width, wider, 1, stride=2, bias=False)
        self.norms = nn.ModuleList(nn.BatchNorm2d(wider) for _ in range(3))
        self.eval()

    def forward(self, x):
        y = torch.relu(self.norms[0](self.first(x)))
        return torch.relu(self.norms[1](self.second(y)) + self.norms[2](self.shortcut(x)))


def get_init_inputs():
    return [16, 32]


def get_inputs():
    return [torch.randn(2, 16, 16, 16)]
