"""Attention in windows, with drop rates read from the device and an index table made in the constructor."""

import torch


class Attention(torch.nn.Module):
    def __init__(self, size, heads, window, keep):
        super().__init__()
        self.heads, self.window, self.keep = heads, window, keep
        self.qkv = torch.nn.Linear(size, 3 * size)
        self.table = torch.nn.Parameter(torch.zeros((2 * window - 1) ** 2, heads))
        grid = torch.stack(
            torch.meshgrid(torch.arange(window), torch.arange(window), indexing="ij")
        )
        offsets = grid.flatten(1)[:, :, None] - grid.flatten(1)[:, None]
        offsets += window - 1
        self.register_buffer("index", offsets[0] * (2 * window - 1) + offsets[1])

    def forward(self, x):
        batch, height, width, size = x.shape
        window, area = self.window, self.window**2
        parts = x.view(batch, height // window, window, width // window, window, size)
        parts = parts.permute(0, 1, 3, 2, 4, 5).reshape(-1, area, size)
        query, key, value = (
            self.qkv(parts)
            .reshape(-1, area, 3, self.heads, size // self.heads)
            .permute(2, 0, 3, 1, 4)
        )
        scores = query @ key.transpose(-2, -1)
        bias = self.table[self.index.view(-1)].view(area, area, -1).permute(2, 0, 1)
        mixed = torch.softmax(scores + bias, -1) @ value
        return x + mixed.transpose(1, 2).reshape(x.shape) * self.keep


class Model(torch.nn.Module):
    def __init__(self, depth):
        super().__init__()
        rates = [rate.item() for rate in torch.linspace(0, 0.1, depth)]
        self.layers = torch.nn.ModuleList(Attention(96, 3, 7, 1 - rate) for rate in rates)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x.mean((1, 2))


def get_init_inputs():
    return [2]


def get_inputs():
    return [torch.rand(2, 28, 28, 96)]
