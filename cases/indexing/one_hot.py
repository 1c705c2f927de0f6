"""A one-hot code, scattered by eager mode: compiled it is a comparison with the position, and nothing is scattered."""

import torch

EXPECT = {"rules": ["scatter-to-comparison"], "graph_breaks": 0, "max_op_calls": 0}


def inputs(device, dtype, rows=128, classes=64):
    return torch.randint(classes, (rows, 1), device=device), torch.randn(
        rows, classes, device=device, dtype=dtype
    )


def fn(labels, x):
    code = torch.zeros_like(x).scatter(1, labels, 1.0)
    return (x - code).square()
