"""Group, instance and RMS norm of one tensor: each a reduction kernel with its own grouping of the same numbers."""

import torch
import torch.nn.functional as F

EXPECT = {"rules": ["reduction-fusion"], "graph_breaks": 0, "max_op_calls": 0}


def inputs(device, dtype, batch=4, size=16):
    return (torch.randn(batch, 16, size, size, device=device, dtype=dtype),)


def fn(x):
    grouped = F.group_norm(x, 4)
    return F.instance_norm(grouped), F.rms_norm(x.flatten(2), (x[0, 0].numel(),))
