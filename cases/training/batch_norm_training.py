"""Batch norm in training: statistics, normalisation and the update of the running values, without cuDNN's call."""

import torch
from torch import nn

BACKWARD = True
EXPECT = {"rules": ["reduction-fusion", "mutation-functionalized"], "graph_breaks": 0}


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = nn.BatchNorm2d(channels)

    def forward(self, image):
        return torch.relu(self.norm(image))


def get_init_inputs():
    return [8]


def get_inputs():
    return [torch.randn(8, 8, 16, 16)]
