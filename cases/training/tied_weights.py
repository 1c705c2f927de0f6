"""An embedding that is the output layer too: its two gradients meet, and the second one is added to the first."""

import torch
import torch.nn.functional as F

BACKWARD = True
EXPECT = {"rules": ["embedding-lowered"], "graph_breaks": 0}


def inputs(device, dtype, vocabulary=200, width=32):
    table = torch.randn(vocabulary, width, device=device, requires_grad=True)
    return torch.randint(vocabulary, (4, 16), device=device), table


def fn(tokens, table):
    hidden = torch.tanh(F.embedding(tokens, table))
    return F.cross_entropy((hidden @ table.T).flatten(0, 1), tokens.flatten())
