"""A mixture of experts with a loop over experts: each one's tokens are chosen by a mask, so that all shapes are known."""

import torch
import torch.nn.functional as F
from torch import nn

EXPECT = {"graph_breaks": 0, "cuda": {"rules": ["pointwise-fusion"]}}


class Model(nn.Module):
    def __init__(self, width, experts):
        super().__init__()
        self.router = nn.Linear(width, experts, bias=False)
        self.up = nn.ModuleList(nn.Linear(width, 2 * width, bias=False) for _ in range(experts))
        self.down = nn.ModuleList(nn.Linear(2 * width, width, bias=False) for _ in range(experts))

    def forward(self, x):
        weights, chosen = torch.softmax(self.router(x), dim=-1).topk(2, dim=-1)
        weights = weights / weights.sum(dim=-1, keepdim=True)
        result = torch.zeros_like(x)
        for number, (up, down) in enumerate(zip(self.up, self.down, strict=True)):
            share = torch.where(chosen == number, weights, 0.0).sum(dim=-1, keepdim=True)
            result = result + share * down(F.silu(up(x)))
        return result


def get_init_inputs():
    return [64, 4]


def get_inputs():
    return [torch.randn(48, 64)]
