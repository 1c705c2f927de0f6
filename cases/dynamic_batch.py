"""With dynamic=True sizes are symbols of the graph: one compilation serves all batch sizes."""

import torch
import torch.nn.functional as F

COMPILE = {"dynamic": True}
EXPECT = {
    "rules": ["pointwise-fusion"],
    "graph_breaks": 0,
    "recompiles": 0,
    "cpu": {"max_op_calls": 1, "max_kernels": 1, "numerics": True},
}


def inputs(device, dtype, batch=48, width=64):
    return (
        torch.randn(batch, width, device=device, dtype=dtype),
        torch.randn(width, width, device=device, dtype=dtype),
    )


def fn(x, weight):
    return F.silu(x @ weight) * x
