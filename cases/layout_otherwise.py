"""A function that takes another way when compiled: its result has another layout, and the op after it makes other calls."""

import torch

EXPECT = {
    "rules": ["other-code-path", "other-layout"],
    "graph_breaks": 0,
    "cpu": {"numerics": True},
}


def inputs(device, dtype, steps=16, width=32):
    return (
        torch.rand(2, width, steps, device=device, dtype=dtype),
        torch.rand(width, width, device=device, dtype=dtype),
    )


def fn(x, weight):
    return torch.nn.functional.linear(by_step(x), weight)


def by_step(x):
    if torch.compiler.is_compiling():
        return torch.stack(x.unbind(2), 1).exp()
    return x.transpose(1, 2).exp()
