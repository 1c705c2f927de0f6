"""A vision transformer's first steps: patches by a convolution, a class token, and one block of attention and MLP."""

import torch
import torch.nn.functional as F
from torch import nn

EXPECT = {"rules": ["reduction-fusion", "view-elimination"], "graph_breaks": 0}


class Model(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.patches = nn.Conv2d(3, width, 8, stride=8)
        self.first = nn.Parameter(torch.zeros(1, 1, width))
        self.places = nn.Parameter(torch.zeros(1, 17, width))
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.packed, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def attend(self, x):
        batch, length, width = x.shape
        packed = self.packed(x).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = packed.permute(2, 0, 3, 1, 4).unbind(0)
        mixed = F.scaled_dot_product_attention(query, key, value)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))

    def forward(self, image):
        x = self.patches(image).flatten(2).transpose(1, 2)
        x = torch.cat((self.first.expand(x.shape[0], -1, -1), x), dim=1) + self.places
        x = x + self.attend(self.before(x))
        return x + self.mlp(self.after(x))


def get_init_inputs():
    return [64, 4]


def get_inputs():
    return [torch.randn(2, 3, 32, 32)]
