"""A state-space scan in a Python loop behind a causal convolution."""

import torch
from torch.nn import functional


class Model(torch.nn.Module):
    def __init__(self, size, states):
        super().__init__()
        self.inside = torch.nn.Linear(size, 2 * size)
        self.mix = torch.nn.Conv1d(size, size, 4, groups=size, padding=3)
        self.rates = torch.nn.Parameter(torch.randn(size, states))
        self.step = torch.nn.Linear(size, size)
        self.both = torch.nn.Linear(size, 2 * states)

    def forward(self, x):
        length = x.shape[1]
        value, gate = self.inside(x).chunk(2, -1)
        value = functional.silu(self.mix(value.transpose(1, 2))[..., :length].transpose(1, 2))
        step = functional.softplus(self.step(value))
        into, out = self.both(value).chunk(2, -1)
        decay = torch.exp(-step[..., None] * torch.exp(self.rates))
        fed = (step * value)[..., None] * into[:, :, None]
        state, results = torch.zeros_like(fed[:, 0]), []
        for place in range(length):
            state = decay[:, place] * state + fed[:, place]
            results.append((state * out[:, place, None]).sum(-1))
        return torch.stack(results, 1) * functional.silu(gate)


def get_init_inputs():
    return [16, 4]


def get_inputs():
    return [torch.rand(2, 6, 16)]
