"""A Huber loss, trained: its gradient needs no saved mask, the backward kernel compares again."""

import torch
import torch.nn.functional as F

BACKWARD = True
EXPECT = {"rules": ["loss-fused"], "graph_breaks": 0}


def inputs(device, dtype, rows=256, width=64):
    prediction = torch.randn(rows, width, device=device, dtype=dtype, requires_grad=True)
    return prediction, torch.randn(rows, width, device=device, dtype=dtype)


def fn(prediction, target):
    return F.smooth_l1_loss(torch.tanh(prediction), target)
