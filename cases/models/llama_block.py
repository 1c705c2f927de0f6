"""A Llama block: RMS norms, rotary embedding, grouped-query attention and a SwiGLU, as inference runs it."""

import torch
import torch.nn.functional as F
from torch import nn

EXPECT = {"rules": ["reduction-fusion", "pointwise-fusion"], "graph_breaks": 0}


def rotated(x):
    half = x.shape[-1] // 2
    steps = torch.arange(half, device=x.device) / half
    angles = torch.outer(torch.arange(x.shape[2], device=x.device), 10_000.0**-steps)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)


class Model(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.before, self.after = nn.RMSNorm(width), nn.RMSNorm(width)
        self.query = nn.Linear(width, width, bias=False)
        self.key_value = nn.Linear(width, width, bias=False)  # half as many heads, two results
        self.out = nn.Linear(width, width, bias=False)
        self.gate = nn.Linear(width, 2 * width, bias=False)
        self.up = nn.Linear(width, 2 * width, bias=False)
        self.down = nn.Linear(2 * width, width, bias=False)

    def attend(self, x):
        batch, length, width = x.shape
        query = self.query(x).view(batch, length, self.heads, self.size).transpose(1, 2)
        both = self.key_value(x).view(batch, length, self.heads, self.size).transpose(1, 2)
        key, value = both.chunk(2, dim=1)
        mixed = F.scaled_dot_product_attention(
            rotated(query), rotated(key), value, is_causal=True, enable_gqa=True
        )
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))

    def forward(self, x):
        x = x + self.attend(self.before(x))
        y = self.after(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


def get_init_inputs():
    return [128, 4]


def get_inputs():
    return [torch.randn(2, 32, 128)]
