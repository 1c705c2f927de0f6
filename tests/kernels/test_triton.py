"""Tests of compdiff.kernels.triton."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compdiff.kernels.triton import fused_ops


@pytest.mark.parametrize(
    "ops",
    [
        ("add",),
        ("_to_copy", "add", "native_layer_norm"),
        ("_softmax", "_unsafe_view", "clamp", "max_pool2d_with_indices"),
        ("constant_pad_nd", "some", "custom", "op"),
        ("_some", "relu"),
    ],
)
def test_joined_ops_come_apart(ops: tuple[str, ...]) -> None:
    """Ops of the list keep their underscores; others come apart into words."""
    assert fused_ops("_".join(ops)) == ops


@given(st.text(alphabet="_ad", max_size=80))
def test_nothing_is_lost(joined: str) -> None:
    """The ops joined again are the text, but for underscores at its end."""
    assert "_".join(fused_ops(joined)).replace("_", "") == joined.replace("_", "")
