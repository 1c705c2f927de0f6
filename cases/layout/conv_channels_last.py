"""Two convolutions: the compiler keeps the tensor between them channels-last, the batch norm and relu follow its layout."""

import torch
from torch import nn

EXPECT = {"graph_breaks": 0, "cpu": {"numerics": True}}


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.first = nn.Conv2d(8, channels, 3, padding=1)
        self.second = nn.Conv2d(channels, channels, 3, padding=1, groups=channels)
        self.to(memory_format=torch.channels_last)

    def forward(self, image):
        image = image.contiguous(memory_format=torch.channels_last)
        return torch.relu(self.second(torch.relu(self.first(image))))


def get_init_inputs():
    return [32]


def get_inputs():
    return [torch.randn(2, 8, 16, 16)]
