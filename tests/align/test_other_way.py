"""Code that only one side runs."""

from compdiff.align.other_way import graphs_around
from compdiff.align.traces import OpTrace
from tests.builders import op


def traces(*compile_ids: str | None) -> list[OpTrace]:
    """Return traces of op calls: traced into these graphs, outside graphs (""), or untraced (None)."""
    made = [OpTrace(op(number)) for number in range(len(compile_ids))]
    for trace, compile_id in zip(made, compile_ids, strict=True):
        if compile_id is not None:
            trace.by, trace.compile_id = "attribution pass", compile_id or None
    return made


def test_an_untraced_call_lies_in_the_graph_around_it() -> None:
    """The nearest traced calls on both sides are of one graph."""
    assert graphs_around(traces("0/0", None, None, "0/0")) == {1: "0/0", 2: "0/0"}


def test_at_an_end_one_side_is_enough() -> None:
    """Before the first and after the last call there is nothing else."""
    assert graphs_around(traces(None, "0/0", None)) == {0: "0/0", 2: "0/0"}


def test_between_two_graphs_it_lies_in_none() -> None:
    """It may run outside both."""
    assert graphs_around(traces("0/0", None, "1/0")) == {}


def test_beside_a_call_outside_graphs_it_lies_in_none() -> None:
    """Eager code between graphs."""
    assert graphs_around(traces("0/0", None, "", None)) == {}
