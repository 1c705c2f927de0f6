"""A focal loss on logits: binary cross entropy, its weight and the mean are one pass over the data."""

import torch
import torch.nn.functional as F

EXPECT = {"rules": ["loss-fused"], "graph_breaks": 0, "max_op_calls": 0, "cpu": {"numerics": True}}


def inputs(device, dtype, rows=512, width=64):
    logits = torch.randn(rows, width, device=device, dtype=dtype)
    return logits, torch.randint(2, (rows, width), device=device).to(dtype)


def fn(logits, target):
    loss = F.binary_cross_entropy_with_logits(logits, target, reduction="none")
    return (loss * (1 - torch.exp(-loss)) ** 2).mean()
