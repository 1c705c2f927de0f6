"""Ops that have no rule for the shape of their result."""

from typing import Any

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode, UnsupportedOperatorException
from torch.utils._pytree import tree_flatten

from compdiff.capture.plan.on_cpu import run_on_cpu

DEVICE = torch.device("cuda", 0)


def call(op: object, *args: object) -> Any:  # noqa: ANN401 - whatever the op returns
    """Return what an op returns for fake tensors of the device."""
    mode = FakeTensorMode()
    with mode:
        given = [torch.empty(it, device=DEVICE) if isinstance(it, tuple) else it for it in args]
    flat, spec = tree_flatten((tuple(given), {}))
    return run_on_cpu(mode, op, flat, spec, DEVICE)


def test_the_kernel_of_the_cpu_says_the_shape() -> None:
    """The results are fake, and on the device."""
    op = torch.ops.aten.fake_quantize_per_tensor_affine_cachemask.default
    data, mask = call(op, (4, 6), 0.1, 0, -128, 127)
    assert (tuple(data.shape), data.dtype, data.device) == ((4, 6), torch.float32, DEVICE)
    assert (tuple(mask.shape), mask.dtype, mask.device) == ((4, 6), torch.bool, DEVICE)


def test_an_op_without_such_a_kernel_is_named() -> None:
    """The error says which op it was."""
    op = torch.ops.aten._thnn_fused_lstm_cell.default
    with pytest.raises(UnsupportedOperatorException, match="_thnn_fused_lstm_cell"):
        call(op, (2, 16), (2, 16), (2, 4))
