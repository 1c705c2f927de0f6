"""Whisper's entry: two one-dimensional convolutions with gelu, sinusoidal positions, and cross attention to the result."""

import torch
import torch.nn.functional as F
from torch import nn

EXPECT = {"rules": ["pointwise-fusion", "view-elimination"], "graph_breaks": 0}


class Model(nn.Module):
    def __init__(self, bands, width):
        super().__init__()
        self.first = nn.Conv1d(bands, width, 3, padding=1)
        self.second = nn.Conv1d(width, width, 3, stride=2, padding=1)
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))

    def positions(self, x):
        half = x.shape[-1] // 2
        steps = torch.arange(half, device=x.device) / (half - 1)
        angles = torch.outer(torch.arange(x.shape[1], device=x.device), 10_000.0**-steps)
        return torch.cat((angles.sin(), angles.cos()), dim=-1).to(x.dtype)

    def forward(self, sound, tokens):
        x = F.gelu(self.second(F.gelu(self.first(sound)))).transpose(1, 2)
        x = x + self.positions(x)
        query, key, value = self.query(tokens), self.key(x), self.value(x)
        heads = [part.unflatten(-1, (4, -1)).transpose(1, 2) for part in (query, key, value)]
        return F.scaled_dot_product_attention(*heads).transpose(1, 2).flatten(2)


def get_init_inputs():
    return [20, 64]


def get_inputs():
    return [torch.randn(2, 20, 48), torch.randn(2, 6, 64)]
