"""With freezing, a convolution becomes oneDNN's own call with reordered weights."""

import torch

COMPILE = {"options": {"freezing": True}}
EXPECT = {"graph_breaks": 0, "cpu": {"rules": ["compiler-pattern"], "max_op_calls": 1}}


def inputs(device, dtype, batch=2, size=32):
    return (torch.randn(batch, 3, size, size, device=device, dtype=dtype),)


fn = torch.nn.Conv2d(3, 16, 3, padding=1)
