"""Layers that are copies of one another, a number made on the device, and views that are returned."""

import copy

import torch


class Model(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        layer = torch.nn.Linear(size, size)
        self.layers = torch.nn.ModuleList(copy.deepcopy(layer) for _ in range(2))
        self.scale = torch.nn.Parameter(torch.ones(1, 1))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        x = x * self.scale.clamp(max=torch.log(torch.tensor(100.0, device=x.device)))
        left, right = x.chunk(2, 1)
        return {"left": left, "rest": [right, right.relu()]}


def get_init_inputs():
    return [64]


def get_inputs():
    return [torch.randn(16, 64)]
