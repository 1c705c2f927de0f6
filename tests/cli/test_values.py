"""Values on the command line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compdiff.cli.values import Value, parse_value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4096", 4096),
        ("-1", -1),
        ("1e-3", 0.001),
        ("True", True),
        ("false", False),
        ("none", None),
        ("float16", "float16"),
        ("", ""),
        ("[1]", "[1]"),
    ],
)
def test_values(text: str, value: Value) -> None:
    """Numbers and words are read; anything else is text."""
    parsed = parse_value(text)
    assert parsed == value
    assert type(parsed) is type(value)


@given(st.one_of(st.integers(), st.floats(allow_nan=False), st.booleans(), st.none()))
def test_python_values_survive(value: Value) -> None:
    """What Python prints is read back."""
    assert parse_value(str(value)) == value
