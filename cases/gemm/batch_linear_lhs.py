"""Several linear layers that read one input become one product with their weights side by side (batch_linear_lhs)."""

import torch
from torch import nn

COMPILE = {"options": {"pre_grad_fusion_options": {"batch_linear_lhs": {}}}}
EXPECT = {"graph_breaks": 0, "cpu": {"numerics": True}}


class Model(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = nn.ModuleList(nn.Linear(width, width) for _ in range(heads))

    def forward(self, x):
        return [torch.relu(head(x)) for head in self.heads]


def get_init_inputs():
    return [64, 6]


def get_inputs():
    return [torch.randn(32, 64)]
