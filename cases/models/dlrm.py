"""A recommender: embedding bags stay library calls, their products are one bmm, the upper triangle is an indexed load."""

import torch
from torch import nn

EXPECT = {"rules": ["pointwise-fusion"], "graph_breaks": 0}


class Model(nn.Module):
    def __init__(self, tables, rows, width):
        super().__init__()
        self.bags = nn.ModuleList(nn.EmbeddingBag(rows, width, mode="sum") for _ in range(tables))
        self.bottom = nn.Sequential(nn.Linear(13, width), nn.ReLU())
        self.register_buffer("pairs", torch.triu_indices(tables + 1, tables + 1, offset=1))
        self.top = nn.Linear(width + self.pairs.shape[1], 1)

    def forward(self, dense, sparse):
        dense = self.bottom(dense)
        parts = [dense, *(bag(sparse[:, number]) for number, bag in enumerate(self.bags))]
        features = torch.stack(parts, dim=1)
        products = features @ features.transpose(1, 2)
        pairs = products[:, self.pairs[0], self.pairs[1]]
        return torch.sigmoid(self.top(torch.cat((dense, pairs), dim=1)))


def get_init_inputs():
    return [3, 100, 16]


def get_inputs():
    return [torch.randn(32, 13), torch.randint(100, (32, 3, 4))]
