"""Independent linear layers of one shape become one bmm over stacked inputs, a pass that must be asked for."""

import torch

COMPILE = {"options": {"post_grad_fusion_options": {"batch_linear_post_grad": {}}}}
EXPECT = {
    "rules": ["batched-ops"],
    "graph_breaks": 0,
    "max_op_calls": 1,
    "cpu": {"numerics": True},
}
EXPERTS = 6


def inputs(device, dtype, rows=32, width=64):
    xs = [torch.randn(rows, width, device=device, dtype=dtype) for _ in range(EXPERTS)]
    weights = [torch.randn(width, width, device=device, dtype=dtype) for _ in range(EXPERTS)]
    return xs, weights


def fn(xs, weights):
    return [torch.mm(x, weight) for x, weight in zip(xs, weights, strict=True)]
