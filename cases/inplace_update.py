"""In-place ops are traced as pure ones; one kernel computes the result and writes it back once."""

import torch

EXPECT = {
    "rules": ["mutation-functionalized"],
    "graph_breaks": 0,
    "max_kernels": 1,
    "max_op_calls": 0,
    "cpu": {"numerics": True},
}


def inputs(device, dtype, size=4096):
    return tuple(torch.randn(size, device=device, dtype=dtype) for _ in range(2))


def fn(state, update):
    state.mul_(0.9)
    state.add_(update)
    return state * 2
