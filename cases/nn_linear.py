"""nn.Linear is one addmm on both sides; the transposed view of the weight is no call any more."""

import torch

EXPECT = {
    "rules": ["view-elimination"],
    "not_rules": ["mm-add-to-addmm"],
    "max_op_calls": 1,
    "graph_breaks": 0,
    "cpu": {"max_kernels": 0, "numerics": True},
}


class Model(torch.nn.Module):
    def __init__(self, width, features):
        super().__init__()
        self.linear = torch.nn.Linear(width, features)

    def forward(self, x):
        return self.linear(x)


def get_init_inputs():
    return [256, 512]


def get_inputs():
    return [torch.randn(128, 256)]
