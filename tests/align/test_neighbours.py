"""What runs between the same two neighbours on both sides."""

import msgspec

from compdiff.model import OpCall
from tests.align.test_by_names import compared, origins, side
from tests.builders import op


def shaped(*names: str, rows: int = 4) -> tuple[OpCall, ...]:
    """Return op calls on matrices of some rows, without outputs, as in a trace."""
    made = (op(number, f"aten::{name}", ((rows, 4),)) for number, name in enumerate(names))
    return tuple(msgspec.structs.replace(call, outputs=()) for call in made)


LEFT = shaped("mm", "select", "add", "stack", "bmm")


def test_the_only_call_between_two_known_ones_stands_for_what_is_there() -> None:
    """All of it, with its views, and the rule says what is not known."""
    diff = compared(LEFT, side(shaped("mm", "cumsum", "bmm"), (), "o0 o1 o2"))
    assert origins(diff)["c1"] == ("e1", "e2", "e3")
    (rewrite,) = diff.rewrites
    assert (rewrite.rule, rewrite.evidence) == (
        "other-code-path",
        ("the only work between the same two neighbours",),
    )
    assert {match.certainty for match in diff.matches if match.left != ("e0",)} >= {"guess"}


def test_there_is_no_guess_where_anything_else_may_be() -> None:
    """Not of two calls, of a copy that a compiler adds, of another size, or at the end."""
    for names, order in (
        (("mm", "cumsum", "cumprod", "bmm"), "o0 o1 o2 o3"),
        (("mm", "clone", "bmm"), "o0 o1 o2"),
        (("mm", "cumsum"), "o0 o1"),
    ):
        diff = compared(LEFT, side(shaped(*names), (), order))
        assert origins(diff)["c1"] == ()
    other = (shaped("mm")[0], *shaped("mm", "cumsum", rows=5)[1:], shaped("mm", "x", "bmm")[2])
    assert origins(compared(LEFT, side(other, (), "o0 o1 o2")))["c1"] == ()
