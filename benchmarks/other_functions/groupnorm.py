"""Group norm, pooling, upsampling and a masked loss."""

import torch
from torch.nn import functional


def inputs(device, dtype):
    return (
        torch.randn(2, 8, 16, 16, device=device, dtype=dtype),
        torch.randn(8, 8, 1, 1, device=device, dtype=dtype),
        torch.rand(2, 8, 16, 16, device=device),
    )


def fn(x, w, m):
    y = functional.gelu(functional.group_norm(x, 4))
    y = functional.avg_pool2d(functional.conv2d(y, w), 2)
    y = functional.interpolate(y, scale_factor=2)
    y = torch.where(m > 0.5, y, x)
    return functional.softplus(y).clamp(max=3).sum((2, 3)), y.amax(1)
