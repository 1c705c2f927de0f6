"""Tests that compile for a GPU need torch's CUDA build, though no GPU."""

from importlib.util import find_spec

import pytest
import torch

needs_cuda_build = pytest.mark.skipif(
    torch.version.cuda is None or find_spec("triton") is None,
    reason="plans need torch's CUDA build and triton; this torch is a CPU build",
)
