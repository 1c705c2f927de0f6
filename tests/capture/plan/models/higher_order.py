"""Ops that run graphs of their own: a checkpoint, an autograd function; copied layers and autocast."""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

BACKWARD = True


class Gate(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x.sigmoid()

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        share = x.sigmoid()
        return gradient * (share + x * share * (1 - share))


class Model(nn.Module):
    """A checkpoint around layers that share a line, an autograd function, copied layers, and autocast."""

    def __init__(self):
        super().__init__()
        self.layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 2, 48, 0.0), 2)
        self.up = nn.Linear(32, 64)
        self.down = nn.Linear(64, 32)

    def widened(self, x):
        return self.down(nn.functional.gelu(self.up(x)))

    def forward(self, x):
        with torch.autocast("cuda", dtype=torch.bfloat16):
            x = checkpoint(self.widened, self.layers(x), use_reentrant=False)
        return Gate.apply(x).float().sum()


def get_init_inputs():
    return []


def get_inputs():
    return [torch.rand(16, 4, 32)]
