"""Tests of compdiff.rewrites.changes, over golden runs of which one is changed by hand."""

from compdiff.analysis import compare
from compdiff.model import Change, Run
from compdiff.rewrites.changes import stable_text
from tests.builders import op
from tests.variants import golden, replace, uncompiled, with_break, with_op_call, with_recompile


def changes(a: Run, b: Run) -> tuple[Change, ...]:
    """Return what the compilers of two runs say otherwise."""
    _, diff = compare(a, "right", b, "right")
    assert diff.comparison is not None
    return diff.comparison.changes


def test_a_lost_rewrite() -> None:
    """A rewrite that B does not have is lost, with its op calls, its line and what B does instead."""
    run = golden("linear")
    lost, finding = changes(run, uncompiled(run))
    assert (lost.what, lost.change) == ("rewrite", "lost")
    assert lost.name == "mm-add-to-addmm (seeded-output)"
    assert lost.op_calls == ("aten::mm", "aten::add.Tensor")
    assert lost.source == "cases/linear.py:24"
    assert lost.detail == "in B: kept"
    assert (finding.what, finding.change) == ("finding", "lost")


def test_a_gained_rewrite() -> None:
    """The same in reverse is gained."""
    run = golden("linear")
    gained, _ = changes(uncompiled(run), run)
    assert (gained.change, gained.detail) == ("gained", "in A: kept")


def test_a_rewrite_with_another_outcome() -> None:
    """The same rewrite that ends otherwise is changed: a bias that is no longer copied."""
    run = golden("linear")
    calls = tuple(replace(call, inner=()) for call in run.right.op_calls)
    changed, _ = changes(run, replace(run, right=replace(run.right, op_calls=calls)))
    assert (changed.change, changed.what) == ("changed", "rewrite")
    assert changed.detail == "outcome seeded-output -> bias-epilogue"


def test_a_new_graph_break() -> None:
    """A graph break that only B has is gained, with its line."""
    run = golden("mlp_geglu")
    breaks = [c for c in changes(run, with_break(run, "branch")) if c.what == "graph break"]
    assert [(c.change, c.name, c.source) for c in breaks] == [
        ("gained", "branch", "cases/case.py:7")
    ]
    gone = [c for c in changes(with_break(run, "branch"), run) if c.what == "graph break"]
    assert [c.change for c in gone] == ["lost"]


def test_the_same_graph_break_twice_is_one_more() -> None:
    """Breaks are counted: a second one of the same reason is gained."""
    once = with_break(golden("mlp_geglu"), "branch")
    breaks = [c for c in changes(once, with_break(once, "branch")) if c.what == "graph break"]
    assert len(breaks) == 1


def test_object_ids_do_not_count() -> None:
    """A reason that names an address is the same in both runs."""
    run = golden("mlp_geglu")
    a = with_break(run, "object at 0x7f0011223344")
    assert changes(a, with_break(run, "object at 0x7f5566778899")) == ()
    assert stable_text("id 140123456789012") == "id <address>"


def test_a_recompile() -> None:
    """A recompile that only B has is gained, with its guards."""
    run = golden("mlp_geglu")
    found = [c for c in changes(run, with_recompile(run, "size mismatch")) if c.what == "recompile"]
    assert [(c.change, c.name) for c in found] == [("gained", "0/1: size mismatch")]


def test_an_eager_op_call_more() -> None:
    """What the case of one run calls and the other's does not is told apart from what compilers did."""
    run = golden("mlp_geglu")
    after = with_op_call(run, 2, op(0, "aten::relu"))
    found = [c for c in changes(run, after) if c.what == "eager op call"]
    assert [(c.change, c.name) for c in found] == [("gained", "aten::relu")]
