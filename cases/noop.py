"""Ops that change nothing are removed: padding that pads nothing, views that undo each other."""

import torch

EXPECT = {
    "rules": ["noop-removed", "view-elimination"],
    "graph_breaks": 0,
    "max_kernels": 1,
    "max_op_calls": 0,
    "cpu": {"numerics": True},
}


def inputs(device, dtype, size=64):
    return (torch.randn(size, size, device=device, dtype=dtype),)


def fn(x):
    missing = -x.shape[-1] % 8  # to the next multiple of eight: nothing for a size that is one
    padded = torch.nn.functional.pad(x, (0, missing))
    return torch.relu(padded.view(-1).view(padded.shape))
