"""A GPT block with its loss, trained: the whole step from tokens to gradients, repeated rewrites in both directions."""

import torch
import torch.nn.functional as F
from torch import nn

BACKWARD = True
EXPECT = {"rules": ["embedding-lowered", "loss-fused", "reduction-fusion"], "graph_breaks": 0}


class Model(nn.Module):
    def __init__(self, vocabulary, width):
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(32, width)
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.packed, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def attend(self, x):
        heads = [
            part.unflatten(-1, (4, -1)).transpose(1, 2) for part in self.packed(x).chunk(3, -1)
        ]
        mixed = F.scaled_dot_product_attention(*heads, is_causal=True)
        return self.out(mixed.transpose(1, 2).flatten(2))

    def forward(self, tokens):
        positions = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.tokens(tokens) + self.places(positions)
        x = x + self.attend(self.before(x))
        x = x + self.down(F.gelu(self.up(self.after(x))))
        logits = x @ self.tokens.weight.T
        return F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())


def get_init_inputs():
    return [128, 64]


def get_inputs():
    return [torch.randint(128, (2, 32))]
