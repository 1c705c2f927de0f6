"""A compiled SGD step with momentum: the updates of all parameters run in few kernels, written in place."""

import torch

EXPECT = {"rules": ["mutation-functionalized"], "graph_breaks": 0, "max_op_calls": 0}


def inputs(device, dtype, parameters=6, width=64):
    shapes = [(width, width), (width,)] * (parameters // 2)
    return tuple([torch.randn(shape, device=device) for shape in shapes] for _ in range(3))


def fn(parameters, gradients, momenta):
    torch._foreach_mul_(momenta, 0.9)
    torch._foreach_add_(momenta, gradients)
    torch._foreach_add_(parameters, momenta, alpha=-0.01)
