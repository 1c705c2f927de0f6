"""The score of the chosen class by gather: an indexed load inside the kernel of the log-softmax."""

import torch

EXPECT = {"graph_breaks": 0, "max_op_calls": 0, "cpu": {"numerics": True}}


def inputs(device, dtype, rows=128, classes=200):
    logits = torch.randn(rows, classes, device=device, dtype=dtype)
    return logits, torch.randint(classes, (rows, 1), device=device)


def fn(logits, chosen):
    return -torch.log_softmax(logits, dim=-1).gather(1, chosen).squeeze(1)
