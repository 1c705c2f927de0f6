"""A product with two users stays mm; the addition joins the kernel that computes the gelu."""

import torch
import torch.nn.functional as F

EXPECT = {
    "rules": ["pointwise-fusion"],
    "not_rules": ["mm-add-to-addmm"],
    "outcome": "fused-add",
    "max_op_calls": 1,
    "graph_breaks": 0,
    "cpu": {"min_kernels": 1, "max_kernels": 1, "numerics": True},
}


def inputs(device, dtype, size=256):
    return tuple(torch.randn(size, size, device=device, dtype=dtype) for _ in range(3))


def fn(x, w, b):
    product = torch.matmul(x, w)
    return F.gelu(torch.add(product, b)) + product
