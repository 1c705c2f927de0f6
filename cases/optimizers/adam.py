"""One Adam step written with foreach ops: some ten passes over each parameter become one horizontal kernel for all."""

import torch

EXPECT = {"graph_breaks": 0, "max_op_calls": 0, "cuda": {"max_kernels": 2}}


def inputs(device, dtype, parameters=6, width=64):
    shapes = [(width, width), (width,)] * (parameters // 2)
    made = [[torch.randn(shape, device=device) for shape in shapes] for _ in range(3)]
    return *made, [torch.rand(shape, device=device) for shape in shapes]


def fn(parameters, gradients, means, squares):
    torch._foreach_lerp_(means, gradients, 0.1)
    torch._foreach_mul_(squares, 0.999)
    torch._foreach_addcmul_(squares, gradients, gradients, 0.001)
    scale = torch._foreach_sqrt(squares)
    torch._foreach_add_(scale, 1e-8)
    torch._foreach_addcdiv_(parameters, means, scale, -0.001)
