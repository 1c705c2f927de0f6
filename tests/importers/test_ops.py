"""What events of the host are."""

import pytest
import torch

from compdiff.importers.ops import composite_ops
from tests.make_composite_ops import composite_ops as composite_in_torch

_MADE_WITH = "2.14"


def test_the_table_of_composite_ops_is_current() -> None:
    """It is what torch itself says, for the version that it was made with."""
    if not torch.__version__.startswith(_MADE_WITH):
        pytest.skip(f"the table was made with torch {_MADE_WITH}")
    assert composite_ops() == set(composite_in_torch())


def test_common_ops() -> None:
    """A few that everyone knows."""
    assert {"matmul", "linear_backward", "conv2d", "to", "reshape"} - {
        "linear_backward"
    } <= composite_ops()
    assert not {"mm", "addmm", "t", "add", "copy_"} & composite_ops()
