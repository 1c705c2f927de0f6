"""A LoRA layer: the low-rank update is scaled and added to the frozen product without a pass of its own."""

import torch
from torch import nn

EXPECT = {"rules": ["mm-add-to-addmm"], "graph_breaks": 0, "cpu": {"numerics": True}}


class Model(nn.Module):
    def __init__(self, width, rank):
        super().__init__()
        self.base = nn.Linear(width, width, bias=False)
        self.down = nn.Linear(width, rank, bias=False)
        self.up = nn.Linear(rank, width, bias=False)
        self.scale = 2.0

    def forward(self, x):
        return self.base(x) + self.up(self.down(x)) * self.scale


def get_init_inputs():
    return [128, 8]


def get_inputs():
    return [torch.randn(64, 128)]
