"""A small U-Net: pooling down, a transposed convolution up, and the skip connection joined by a concatenation."""

import torch
import torch.nn.functional as F
from torch import nn

EXPECT = {"graph_breaks": 0, "cuda": {"rules": ["pointwise-fusion"]}}


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.enter = nn.Conv2d(3, width, 3, padding=1)
        self.middle = nn.Conv2d(width, 2 * width, 3, padding=1)
        self.up = nn.ConvTranspose2d(2 * width, width, 2, stride=2)
        self.leave = nn.Conv2d(2 * width, 3, 3, padding=1)
        self.norm = nn.GroupNorm(4, width)

    def forward(self, image):
        fine = F.silu(self.norm(self.enter(image)))
        coarse = F.silu(self.middle(F.max_pool2d(fine, 2)))
        return self.leave(torch.cat((fine, self.up(coarse)), dim=1))


def get_init_inputs():
    return [16]


def get_inputs():
    return [torch.randn(2, 3, 16, 16)]
