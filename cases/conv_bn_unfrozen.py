"""Without freezing, the batch norm stays at run time: it and the relu become one kernel."""

import torch

EXPECT = {
    "rules": ["pointwise-fusion"],
    "not_rules": ["conv-bn-folded"],
    "graph_breaks": 0,
    "cpu": {"numerics": True},
}


class Model(torch.nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, channels, kernel_size=3, padding=1)
        self.norm = torch.nn.BatchNorm2d(channels)
        self.eval()

    def forward(self, image):
        return torch.relu(self.norm(self.conv(image)))


def get_init_inputs():
    return [16]


def get_inputs():
    return [torch.randn(2, 3, 32, 32)]
