"""How items are named and shown."""

import pytest

from compdiff.model import Basis, TensorMeta
from compdiff.report.naming import outputs_text
from tests.builders import op, tensor


@pytest.mark.parametrize(
    ("basis", "outputs", "text"),
    [
        ("measured", (tensor(2, 3),), "f32[2, 3]"),
        ("measured", (), "nothing"),
        ("imported", (), ""),
    ],
)
def test_what_an_op_call_gives(basis: Basis, outputs: tuple[TensorMeta, ...], text: str) -> None:
    """No trace holds outputs: of an imported call nothing is said, rather than that there are none."""
    assert outputs_text(op(0, outputs=outputs), basis) == text
