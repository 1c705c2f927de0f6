"""A channels-last convolution, trained: its gradients stay channels-last, no transposing copies stand between."""

import torch
from torch import nn

BACKWARD = True
EXPECT = {"graph_breaks": 0}


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(8, channels, 3, padding=1)
        self.norm = nn.BatchNorm2d(channels)
        self.to(memory_format=torch.channels_last)

    def forward(self, image):
        image = image.contiguous(memory_format=torch.channels_last)
        return torch.relu(self.norm(self.conv(image)))


def get_init_inputs():
    return [16]


def get_inputs():
    return [torch.randn(2, 8, 16, 16)]
