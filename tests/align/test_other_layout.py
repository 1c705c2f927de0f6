"""Calls that an op makes on one layout only."""

from compdiff.align.lineage import Lineage
from compdiff.align.other_layout import OTHER_LAYOUT, match_other_layout
from compdiff.align.other_way import OTHER_WAY
from compdiff.align.traces import Alignment, OpTrace
from tests.builders import at, capture, op

LINE = at("model.py", 9, "return linear(x)")
BEFORE = at("model.py", 8, "x = other(x)")


def alignment(*, other_way: bool = True) -> Alignment:
    """Return a call of another way, then the three calls of a linear: `t`, an untraced copy, and `mm`."""
    first = OpTrace(op(0, "aten::exp", source=BEFORE), compile_id="0/0")
    first.by = OTHER_WAY if other_way else "attribution pass"
    names = ("aten::t", "aten::clone", "aten::mm")
    traces = [OpTrace(op(number, name, source=LINE)) for number, name in enumerate(names, 1)]
    for trace in (traces[0], traces[2]):
        trace.compile_id, trace.dynamo_node, trace.by = "0/0", "linear", "attribution pass"
    everything = [first, *traces]
    left = capture(op_calls=tuple(trace.call for trace in everything))
    return Alignment(left, capture(), everything, Lineage({}, {}), {}, [])


def test_a_copy_belongs_to_the_op_that_it_is_for() -> None:
    """It lies between the calls of one node, on their line, after another way."""
    made = alignment()
    match_other_layout(made)
    copy = made.traces[2]
    assert (copy.by, copy.dynamo_node, copy.items) == (OTHER_LAYOUT, "linear", ())


def test_without_another_way_nothing_is_claimed() -> None:
    """Then nothing says that the layouts differ."""
    made = alignment(other_way=False)
    match_other_layout(made)
    assert made.traces[2].by == ""


def test_a_call_of_another_line_is_not_claimed() -> None:
    """What another line does is not part of the op."""
    made = alignment()
    made.traces[2] = OpTrace(op(2, "aten::clone", source=BEFORE))
    match_other_layout(made)
    assert made.traces[2].by == ""
