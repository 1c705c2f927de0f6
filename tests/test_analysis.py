"""Tests of compdiff.analysis: the conservation law."""

import msgspec
import pytest
from hypothesis import given, settings

from compdiff.analysis import analyse, check, unexplained
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
)
from tests.strategies import runs


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
