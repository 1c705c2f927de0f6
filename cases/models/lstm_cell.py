"""An LSTM written out over a few steps: the four gates of a step are one product and one pointwise kernel."""

import torch
from torch import nn

EXPECT = {"rules": ["pointwise-fusion"], "graph_breaks": 0}


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.of_input = nn.Linear(width, 4 * width)
        self.of_state = nn.Linear(width, 4 * width, bias=False)

    def forward(self, x):
        hidden = cell = torch.zeros_like(x[:, 0])
        for step in self.of_input(x).unbind(1):
            enter, keep, new, leave = (step + self.of_state(hidden)).chunk(4, dim=-1)
            cell = torch.sigmoid(keep) * cell + torch.sigmoid(enter) * torch.tanh(new)
            hidden = torch.sigmoid(leave) * torch.tanh(cell)
        return hidden


def get_init_inputs():
    return [64]


def get_inputs():
    return [torch.randn(4, 6, 64)]
