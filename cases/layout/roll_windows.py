"""Windows of a shifted image, as Swin cuts them: the roll and the permutation are index arithmetic of one kernel."""

import torch

EXPECT = {"graph_breaks": 0, "max_op_calls": 0, "cpu": {"numerics": True}}


def inputs(device, dtype, batch=2, size=16):
    return (torch.randn(batch, size, size, 32, device=device, dtype=dtype),)


def fn(x):
    batch, height, width, channels = x.shape
    x = torch.roll(x, (-2, -2), dims=(1, 2)) * 0.5
    x = x.view(batch, height // 4, 4, width // 4, 4, channels)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, 16, channels)
