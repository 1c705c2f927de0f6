"""A case in the Model / get_init_inputs / get_inputs form: an RMS norm and a gate."""

import torch
from torch import nn

EXPECT = {"rules": ["reduction-fusion"], "graph_breaks": 0}


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.gate = nn.Linear(width, width, bias=False)

    def forward(self, x):
        norm = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight
        return norm * torch.sigmoid(self.gate(norm))


def get_init_inputs():
    return [128]


def get_inputs():
    return [torch.randn(32, 128)]
