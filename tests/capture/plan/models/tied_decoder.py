"""A decoder block with a mask as a buffer and the output weights tied to the embedding."""

import torch
from torch.nn import functional


class Model(torch.nn.Module):
    def __init__(self, words, size):
        super().__init__()
        self.words = torch.nn.Embedding(words, size)
        self.places = torch.nn.Embedding(64, size)
        self.norm = torch.nn.LayerNorm(size)
        self.qkv = torch.nn.Linear(size, 3 * size)
        self.head = torch.nn.Linear(size, words, bias=False)
        self.head.weight = self.words.weight
        self.register_buffer("mask", torch.tril(torch.ones(64, 64)).bool())

    def forward(self, tokens):
        length = tokens.shape[1]
        x = self.words(tokens) + self.places(torch.arange(length, device=tokens.device))
        query, key, value = self.qkv(self.norm(x)).chunk(3, -1)
        scores = (query @ key.transpose(1, 2)).masked_fill(
            ~self.mask[:length, :length], float("-inf")
        )
        x = x + functional.dropout(scores.softmax(-1), 0.1) @ value
        return self.head(x)


def get_init_inputs():
    return [101, 48]


def get_inputs():
    return [torch.randint(0, 101, (2, 33))]
