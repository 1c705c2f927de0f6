"""Query, key and value from one packed projection: the three parts are strides of one result, never copies."""

import torch
import torch.nn.functional as F

EXPECT = {
    "rules": ["view-elimination"],
    "graph_breaks": 0,
    "max_op_calls": 1,
    "cpu": {"numerics": True},
}


def inputs(device, dtype, rows=64, width=96):
    x = torch.randn(rows, width, device=device, dtype=dtype)
    return x, torch.randn(3 * width, width, device=device, dtype=dtype)


def fn(x, weight):
    query, key, value = F.linear(x, weight).chunk(3, dim=-1)
    return torch.sigmoid(query) * key + value
