"""A long chain of pointwise ops of many kinds: one kernel, one read of each input, one write."""

import torch
import torch.nn.functional as F

EXPECT = {
    "rules": ["pointwise-fusion"],
    "graph_breaks": 0,
    "max_kernels": 1,
    "max_op_calls": 0,
    "cpu": {"numerics": True},
}


def inputs(device, dtype, rows=256, width=256):
    return tuple(torch.rand(rows, width, device=device, dtype=dtype) + 0.5 for _ in range(2))


def fn(x, y):
    z = F.silu(x).clamp(0.1, 0.9) + torch.erf(y) * torch.log1p(x)
    z = torch.where(z > y, torch.atan2(z, y), torch.fmod(z, 0.7)) + F.hardswish(z)
    return torch.lerp(z, torch.rsqrt(x), 0.25) - F.softplus(y).floor()
