"""A filter in the frequency domain: the transforms stay calls of cuFFT or MKL, complex numbers stop fusion around them."""

import torch

EXPECT = {"graph_breaks": 0}


def inputs(device, dtype, rows=16, length=256):
    x = torch.randn(rows, length, device=device)
    return x, torch.rand(length // 2 + 1, device=device)


def fn(x, gains):
    return torch.fft.irfft(torch.fft.rfft(torch.tanh(x)) * gains, n=x.shape[-1]) + 1
