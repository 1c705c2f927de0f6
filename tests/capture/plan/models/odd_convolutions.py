"""Convolutions of odd sizes: depthwise, grouped, strided, transposed, with squeeze-and-excitation and dropout."""

import torch
from torch.nn import functional


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Conv2d(3, 12, 5, stride=2, padding=1)
        self.norm = torch.nn.BatchNorm2d(12)
        self.depth = torch.nn.Conv2d(12, 12, 3, padding=1, groups=12, bias=False)
        self.squeeze = torch.nn.Conv2d(12, 4, 1)
        self.excite = torch.nn.Conv2d(4, 12, 1)
        self.up = torch.nn.ConvTranspose2d(12, 5, 4, stride=2)

    def forward(self, x):
        x = functional.silu(self.norm(self.first(x)))
        x = functional.max_pool2d(self.depth(x), 3, 2)
        weights = self.excite(functional.relu(self.squeeze(x.mean((2, 3), keepdim=True))))
        x = functional.dropout(x * weights.sigmoid(), 0.5)
        return torch.flatten(self.up(x), 1)


def get_init_inputs():
    return []


def get_inputs():
    return [torch.rand(3, 3, 75, 61)]
