"""Four layers, forward and backward: one rewrite repeated in every layer."""

import torch

BACKWARD = True
EXPECT = {"rules": ["lowered-to-kernel", "view-elimination"], "graph_breaks": 0}


def inputs(device, dtype, batch=32):
    return (torch.randn(batch, 64, device=device, dtype=dtype),)


fn = torch.nn.Sequential(
    *[layer for _ in range(4) for layer in (torch.nn.Linear(64, 64), torch.nn.Tanh())]
)
