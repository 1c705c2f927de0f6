"""The sum of two products of one shape, autotuned: one op, mm_plus_mm, which may run both in one Triton kernel.

Without autotuning the sum joins one of the products as an addmm.
"""

import torch

COMPILE = {"mode": "max-autotune-no-cudagraphs"}
EXPECT = {"graph_breaks": 0, "cuda": {"rules": ["mm-plus-mm"], "not_rules": ["mm-add-to-addmm"]}}


def inputs(device, dtype, rows=256, width=128):
    left = (rows, width)
    right = (width, rows)
    return tuple(
        torch.randn(shape, device=device, dtype=dtype) for shape in (left, right, left, right)
    )


def fn(a, b, c, d):
    return torch.mm(a, b) + torch.mm(c, d)
