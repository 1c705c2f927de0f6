"""A GeGLU block keeps its three matrix products; the gelu and the gating become one kernel."""

import torch
import torch.nn.functional as F

EXPECT = {
    "rules": ["pointwise-fusion", "view-elimination"],
    "max_kernels": 1,
    "max_op_calls": 3,
    "graph_breaks": 0,
    "cpu": {"min_kernels": 1, "numerics": True},
    "cuda": {"max_kernels": 4},
}


def inputs(device, dtype, batch=128, width=256, hidden=512):
    shapes = ((batch, width), (hidden, width), (hidden, width), (width, hidden))
    return tuple(torch.randn(shape, device=device, dtype=dtype) / 16 for shape in shapes)


def fn(x, gate, up, down):
    return F.linear(F.gelu(F.linear(x, gate)) * F.linear(x, up), down)
