"""The language of -k."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compdiff.errors import CaseError
from compdiff.selection import Expression, matches, parse


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        ("linear", {"linear-64", "nn_linear"}),
        ("LINEAR and 64", {"linear-64"}),
        ("linear and not nn", {"linear-64"}),
        ("not linear", {"softmax"}),
        ("softmax or linear and nn", {"softmax", "nn_linear"}),
        ("(softmax or linear) and nn", {"nn_linear"}),
        ("not (softmax or nn)", {"linear-64"}),
        ("not not nn", {"nn_linear"}),
    ],
)
def test_selects(text: str, chosen: set[str]) -> None:
    """Words are substrings; not binds tighter than and, and tighter than or."""
    expression = parse(text)
    names = ("linear-64", "nn_linear", "softmax")
    assert {name for name in names if matches(expression, name)} == chosen


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "ends early"),
        ("a and", "ends early"),
        ("and a", "missing before 'and'"),
        ("(a", "not closed"),
        ("a)", r"unexpected '\)'"),
        ("a b", "unexpected 'b'"),
        ("a or or b", "missing before 'or'"),
    ],
)
def test_refuses(text: str, words: str) -> None:
    """What is no expression is an error that says why."""
    with pytest.raises(CaseError, match=words):
        parse(text)


@given(st.text("abc()ornt d ", max_size=20))
def test_never_crashes(text: str) -> None:
    """Any text parses or is refused."""
    try:
        expression = parse(text)
    except CaseError:
        return
    assert isinstance(expression, Expression)
