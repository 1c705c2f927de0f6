"""Rotary embedding with complex numbers: no generated kernel computes with them, so the product stays a call of ATen."""

import torch

EXPECT = {"graph_breaks": 0}


def inputs(device, dtype, batch=2, length=32):
    x = torch.randn(batch, length, 4, 32, device=device)
    angles = torch.rand(length, 1, 16, device=device)
    return x, angles


def fn(x, angles):
    turns = torch.polar(torch.ones_like(angles), angles)
    pairs = torch.view_as_complex(x.float().unflatten(-1, (-1, 2)))
    return torch.view_as_real(pairs * turns).flatten(-2) * 2
