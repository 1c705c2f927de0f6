"""An embedding becomes an indexed load inside a kernel; embedding_bag stays a library call."""

import torch
import torch.nn.functional as F

EXPECT = {
    "rules": ["embedding-lowered", "pointwise-fusion"],
    "graph_breaks": 0,
    "cpu": {"max_op_calls": 1, "max_kernels": 2, "numerics": True},
}


def inputs(device, dtype, vocabulary=1000, width=64):
    indices = torch.randint(vocabulary, (32, 8), device=device)
    return indices, torch.randn(vocabulary, width, device=device, dtype=dtype)


def fn(indices, weight):
    bag = F.embedding_bag(indices, weight, mode="sum")
    return F.embedding(indices, weight).relu() + bag.unsqueeze(1)
