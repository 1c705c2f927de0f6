"""Activation checkpointing: the block's ops run again in the backward graph instead of being saved."""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

BACKWARD = True
EXPECT = {"graph_breaks": 0}


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)

    def block(self, x):
        return self.down(torch.nn.functional.gelu(self.up(x)))

    def forward(self, x):
        return x + checkpoint(self.block, x, use_reentrant=False)


def get_init_inputs():
    return [64]


def get_inputs():
    return [torch.randn(32, 64)]
