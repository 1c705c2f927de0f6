"""Cross entropy runs in fused kernels: the matrix of log-probabilities is never stored."""

import torch
import torch.nn.functional as F

EXPECT = {"rules": ["loss-fused"], "graph_breaks": 0, "max_op_calls": 0, "cpu": {"numerics": True}}


def inputs(device, dtype, batch=128, classes=1000):
    logits = torch.randn(batch, classes, device=device, dtype=dtype)
    return logits, torch.randint(classes, (batch,), device=device)


def fn(logits, target):
    return F.cross_entropy(logits, target)
