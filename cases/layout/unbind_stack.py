"""A tensor taken apart and stacked again, with a pass that must be asked for: what is left is the op between."""

import torch

COMPILE = {
    "options": {"pre_grad_fusion_options": {"normalization_pass": {}, "unbind_stack_pass": {}}}
}
EXPECT = {
    "rules": ["parts-rejoined"],
    "graph_breaks": 0,
    "max_op_calls": 0,
    "max_kernels": 1,
    "cpu": {"numerics": True},
}


def inputs(device, dtype, steps=6, width=64):
    return (torch.randn(steps, 32, width, device=device, dtype=dtype),)


def fn(x):
    return torch.tanh(torch.stack(torch.unbind(x, dim=0), dim=0))
