"""A function that asks whether it is being compiled, and takes another way: the sides run different code."""

import torch

EXPECT = {
    "rules": ["other-code-path"],
    "graph_breaks": 0,
    "cpu": {"numerics": True},
}


def inputs(device, dtype, steps=8, width=256):
    return (torch.rand(steps, width, device=device, dtype=dtype),)


def fn(x):
    scaled = x * 0.5
    return torch.relu(running_sum(scaled))


def running_sum(x):
    if torch.compiler.is_compiling():
        return torch.cumsum(x, 0)
    total, sums = torch.zeros_like(x[0]), []
    for step in range(x.shape[0]):
        total = total + x[step]
        sums.append(total)
    return torch.stack(sums)
