"""Rotary position embedding: angles, halves and their swap are one kernel, the concatenation is index arithmetic."""

import torch

EXPECT = {
    "rules": ["pointwise-fusion", "view-elimination"],
    "graph_breaks": 0,
    "max_op_calls": 0,
    "max_kernels": 2,
    "cpu": {"numerics": True},
}


def inputs(device, dtype, batch=2, length=64):
    return (torch.randn(batch, 4, length, 32, device=device, dtype=dtype),)


def fn(x):
    half = x.shape[-1] // 2
    steps = torch.arange(half, device=x.device, dtype=torch.float32) / half
    positions = torch.arange(x.shape[2], device=x.device, dtype=torch.float32)
    angles = torch.outer(positions, 10_000.0**-steps)
    angles = torch.cat((angles, angles), dim=-1)
    first, second = x.chunk(2, dim=-1)
    turned = torch.cat((-second, first), dim=-1)
    return (x * angles.cos() + turned * angles.sin()).to(x.dtype)
