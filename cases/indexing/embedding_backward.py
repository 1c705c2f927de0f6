"""An embedding in training: its gradient is an indexed addition into a cleared table, in generated kernels."""

import torch
import torch.nn.functional as F

BACKWARD = True
EXPECT = {"rules": ["embedding-lowered"], "graph_breaks": 0}


def inputs(device, dtype, vocabulary=500, width=32):
    table = torch.randn(vocabulary, width, device=device, requires_grad=True)
    return torch.randint(vocabulary, (8, 16), device=device), table


def fn(tokens, table):
    return torch.tanh(F.embedding(tokens, table, padding_idx=0))
