"""Written-out attention with dropout, trained: the pattern hands the dropout to SDPA, whose backward is one call too."""

import torch
import torch.nn.functional as F

BACKWARD = True
EXPECT = {"rules": ["sdpa-pattern"], "graph_breaks": 0}


def inputs(device, dtype, batch=2, length=64):
    shape = (batch, 4, length, 32)
    return tuple(
        torch.randn(shape, device=device, dtype=dtype, requires_grad=True) for _ in range(3)
    )


def fn(query, key, value):
    scores = torch.matmul(query, key.transpose(-2, -1)) / query.shape[-1] ** 0.5
    weights = F.dropout(torch.softmax(scores, dim=-1), p=0.1, training=True)
    return torch.matmul(weights, value)
