"""A triplet loss: two distances, their hinge and the mean, from one read of each input."""

import torch
import torch.nn.functional as F

EXPECT = {
    "rules": ["reduction-fusion"],
    "graph_breaks": 0,
    "max_op_calls": 0,
    "cpu": {"numerics": True},
}


def inputs(device, dtype, batch=128, width=64):
    return tuple(torch.randn(batch, width, device=device, dtype=dtype) for _ in range(3))


def fn(anchor, positive, negative):
    return F.triplet_margin_loss(anchor, positive, negative, margin=0.5)
