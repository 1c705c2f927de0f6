"""Mamba's selective scan as a loop over time: unrolled into the graph, where the steps fuse as far as registers go."""

import torch
import torch.nn.functional as F
from torch import nn

EXPECT = {"rules": ["view-elimination"], "graph_breaks": 0}


class Model(nn.Module):
    def __init__(self, width, states):
        super().__init__()
        self.enter = nn.Linear(width, 2 * width, bias=False)
        self.steps = nn.Linear(width, width)
        self.to_b, self.to_c = (nn.Linear(width, states, bias=False) for _ in range(2))
        self.decay = nn.Parameter(torch.log(torch.arange(1, states + 1.0)).repeat(width, 1))
        self.leave = nn.Linear(width, width, bias=False)

    def forward(self, x):
        x, gate = self.enter(x).chunk(2, dim=-1)
        step = F.softplus(self.steps(x))
        kept = torch.exp(step.unsqueeze(-1) * -torch.exp(self.decay))
        added = (step * x).unsqueeze(-1) * self.to_b(x).unsqueeze(2)
        state, outputs = torch.zeros_like(added[:, 0]), []
        for time, reading in enumerate(self.to_c(x).unbind(1)):
            state = kept[:, time] * state + added[:, time]
            outputs.append((state * reading.unsqueeze(1)).sum(-1))
        return self.leave(torch.stack(outputs, dim=1) * F.silu(gate))


def get_init_inputs():
    return [32, 8]


def get_inputs():
    return [torch.randn(2, 8, 32)]
