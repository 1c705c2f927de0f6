"""Tests of compdiff.align.combined."""

import pytest

from compdiff.align.combined import combined
from compdiff.errors import CompdiffError
from compdiff.model import CaseInfo, CompileOptions, Environment, Failure
from tests.builders import capture, kernel, op, run

_LEFT = capture("eager", (op(0),))
_RIGHT = capture("compiled", (op(0),))


def test_labels_tell_the_sides_apart() -> None:
    """Labels name A and B, and what tells the runs apart."""
    made = combined(
        run(_LEFT, _RIGHT, environment=Environment(torch="2.13.0")),
        "right",
        run(_LEFT, _RIGHT, environment=Environment(torch="2.14.1")),
        "right",
    )
    assert made.left.label == "A: compiled, torch 2.13.0"
    assert made.right.label == "B: compiled, torch 2.14.1"
    assert made.case.name == "case-against-case"


def test_cases_stand_in_the_labels_where_they_differ() -> None:
    """Sides of two cases carry their names."""
    other = run(_LEFT, _RIGHT, case=CaseInfo(name="other", file="other.py"))
    made = combined(run(_LEFT, _RIGHT), "left", other, "right")
    assert (made.left.label, made.right.label) == ("A: case eager", "B: other compiled")
    assert made.case.name == "case-left-against-other-right"


def test_differences_are_warnings() -> None:
    """Environment, options, parameters and case that differ are told, each with its path."""
    a = run(_LEFT, _RIGHT, environment=Environment(torch="2.13.0"))
    b = run(
        _LEFT,
        _RIGHT,
        environment=Environment(torch="2.14.1"),
        options=CompileOptions(mode="max-autotune", options={"freezing": True}),
        case=CaseInfo(
            name="case", file="case.py", params={"size": 64}, source="x", dtype="float16"
        ),
    )
    texts = [warning.text for warning in combined(a, "right", b, "right").warnings]
    assert texts == [
        "case: the files are not the same",
        "environment: torch: 2.13.0 -> 2.14.1",
        "options: mode: None -> max-autotune",
        "options: options.freezing: absent -> True",
        "parameters: dtype: absent -> float16",
        "parameters: size: absent -> 64",
    ]


def test_an_empty_side_is_refused() -> None:
    """A side without op calls and kernels says which it is."""
    empty = run(_LEFT, capture("compiled"))
    with pytest.raises(CompdiffError, match="B, case:right: a side without op calls"):
        combined(run(_LEFT, _RIGHT), "right", empty, "right")


def test_a_side_of_kernels_alone_is_compared() -> None:
    """A compiled side that is one kernel has something to compare."""
    fused = run(_LEFT, capture("compiled", kernels=(kernel(0),)))
    assert combined(fused, "right", fused, "right").left.kernels == (kernel(0),)


def test_a_run_that_failed_says_where() -> None:
    """An empty side of a run that ended early is refused with the reason."""
    failure = Failure(stage="compiled: compile", message="Unsupported: branching\nmore")
    empty = run(_LEFT, capture("compiled"), failure=failure)
    with pytest.raises(CompdiffError) as caught:
        combined(empty, "right", run(_LEFT, _RIGHT), "right")
    assert caught.value.hint == "That run ended in compiled: compile: Unsupported: branching"
