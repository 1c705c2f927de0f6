"""A ConvNeXt block: a depthwise convolution, then a layer norm and an MLP over channels, which wants them last."""

import torch
from torch import nn

EXPECT = {"rules": ["reduction-fusion", "view-elimination"], "graph_breaks": 0}


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.depthwise = nn.Conv2d(width, width, 7, padding=3, groups=width)
        self.norm = nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.scale = nn.Parameter(torch.full((width,), 1e-2))

    def forward(self, x):
        y = self.norm(self.depthwise(x).permute(0, 2, 3, 1))
        y = self.scale * self.down(nn.functional.gelu(self.up(y)))
        return x + y.permute(0, 3, 1, 2)


def get_init_inputs():
    return [32]


def get_inputs():
    return [torch.randn(2, 32, 16, 16)]
