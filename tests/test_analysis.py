"""Tests of compdiff.analysis: the conservation law."""

import msgspec
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from compdiff.analysis import analyse, check, compare, unexplained
from compdiff.errors import CompdiffError
from compdiff.model import (
    Capture,
    CaseInfo,
    CompileOptions,
    Diff,
    Environment,
    Fate,
    OpCall,
    Origin,
    Rewrite,
    Run,
    Side,
)
from tests.builders import timing
from tests.strategies import runs

_SIDES: tuple[Side, ...] = ("left", "right")


def _run() -> Run:
    return Run(
        case=CaseInfo(name="case", file="case.py"),
        environment=Environment(),
        options=CompileOptions(),
        left=Capture(
            label="eager",
            basis="measured",
            device="cpu",
            op_calls=(OpCall(id=0, name="aten::relu"),),
        ),
        right=Capture(
            label="compiled",
            basis="measured",
            device="cpu",
            op_calls=(OpCall(id=0, name="aten::relu"),),
        ),
    )


@settings(max_examples=200, deadline=None)
@given(runs())
def test_the_law_holds_for_any_run(run: Run) -> None:
    """Whatever the captures hold, true or not, each op call has one fate and each right item one origin."""
    diff = analyse(run)
    check(run, diff)
    claimed = [op for rewrite in diff.rewrites for op in rewrite.left]
    assert len(claimed) == len(set(claimed))
    assert all(
        fate.rewrite in {rewrite.id for rewrite in diff.rewrites} | {None}
        for fate in diff.fates.values()
    )


@settings(max_examples=100, deadline=None)
@given(runs())
def test_an_origin_and_a_fate_agree(run: Run) -> None:
    """An op call that is eliminated by dead code is no kernel's origin, and a kept one is."""
    diff = analyse(run)
    owned = {op for origin in diff.origins.values() for op in origin.op_calls}
    for rewrite in diff.rewrites:
        if rewrite.rule == "dead-code":
            assert not set(rewrite.left) & owned
    assert {op for op, fate in diff.fates.items() if fate.fate == "kept"} <= owned


def test_equal_sides_are_kept() -> None:
    """An op call that both sides make is kept and explained."""
    diff = analyse(_run())
    assert {op: fate.fate for op, fate in diff.fates.items()} == {"e0": "kept"}
    assert unexplained(diff) == (0, 0)


def test_an_op_call_without_counterpart_is_counted() -> None:
    """What nothing explains is said to be so."""
    run = msgspec.structs.replace(
        _run(), right=Capture(label="compiled", basis="measured", device="cpu")
    )
    diff = analyse(run)
    assert diff.fates["e0"].fate == "unexplained"
    assert unexplained(diff) == (1, 0)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"fates": {}}, "op calls without a fate: e0"),
        ({"origins": {}}, "right items without an origin: c0"),
        (
            {
                "rewrites": (
                    Rewrite(id="r1", rule="x", left=("e0",)),
                    Rewrite(id="r2", rule="x", left=("e0",)),
                )
            },
            "op calls claimed twice: e0",
        ),
        (
            {"rewrites": (Rewrite(id="r1", rule="x", left=("e0",)),)},
            "claims that no fate names: e0",
        ),
    ],
)
def test_a_broken_law_is_an_error(changes: dict[str, object], text: str) -> None:
    """A conclusion that loses or doubles something is refused, and says what."""
    good = Diff(
        left_label="eager",
        right_label="compiled",
        fates={"e0": Fate(fate="kept")},
        origins={"c0": Origin(op_calls=("e0",))},
    )
    check(_run(), good)
    with pytest.raises(CompdiffError, match=text):
        check(_run(), msgspec.structs.replace(good, **changes))


@settings(max_examples=150, deadline=None)
@given(runs(), runs(), st.sampled_from(_SIDES), st.sampled_from(_SIDES))
def test_the_law_holds_for_any_two_runs(a: Run, b: Run, a_side: Side, b_side: Side) -> None:
    """Whatever two runs hold, each item of A has one fate and each of B one origin, and the parts agree."""
    assume(all(side.op_calls or side.kernels for run in (a, b) for side in (run.left, run.right)))
    run, diff = compare(a, a_side, b, b_side)
    check(run, diff)
    rewrites = {rewrite.id: rewrite for rewrite in diff.rewrites}
    for item, fate in diff.fates.items():
        assert fate.rewrite is None or item in rewrites[fate.rewrite].left
    owned = {op for origin in diff.origins.values() for op in origin.op_calls}
    assert owned <= set(diff.fates)
    if diff.comparison is not None:
        assert unexplained(diff) == (0, 0)
        assert {op for op, fate in diff.fates.items() if fate.fate == "kept"} <= owned
        assert not owned & {op for op, fate in diff.fates.items() if fate.fate == "removed"}


@settings(max_examples=100, deadline=None)
@given(runs(), st.sampled_from(_SIDES))
def test_a_run_against_itself_changes_nothing(run: Run, side: Side) -> None:
    """Any side compared with itself is kept whole."""
    assume(run.left.op_calls and (run.right.op_calls or run.right.kernels))
    _, diff = compare(run, side, run, side)
    assert {fate.fate for fate in diff.fates.values()} <= {"kept"}
    assert not diff.rewrites
    assert diff.comparison is not None
    assert not diff.comparison.changes


def test_an_eager_side_against_a_compiled_one_is_analysed() -> None:
    """Left against right of one run is what the run's own report says, times included."""
    run = msgspec.structs.replace(_run(), timing=timing(2_000_000, 1_000_000))
    made, diff = compare(run, "left", run, "right")
    assert diff.comparison is None
    assert diff.fates == analyse(run).fates
    assert made.timing == run.timing


def test_sides_of_two_runs_are_not_timed_together() -> None:
    """Samples of two runs were not taken in turns, so they are not compared."""
    run = msgspec.structs.replace(_run(), timing=timing(2_000_000, 1_000_000))
    made, _ = compare(run, "left", msgspec.structs.replace(run, created="later"), "right")
    assert made.timing is None
    assert "times-not-compared" in {warning.id for warning in made.warnings}
