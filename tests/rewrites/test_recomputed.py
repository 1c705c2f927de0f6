"""Which work generated kernels do twice."""

from compdiff.align.lineage import Lineage, NodeRef
from compdiff.align.traces import Alignment, OpTrace
from compdiff.model import GraphNode
from compdiff.rewrites.facts import Facts
from compdiff.rewrites.recomputed import is_recomputed
from tests.builders import capture, kernel, node, op


def _done_again(target: str) -> list[bool]:
    """Return whether each of two kernels that name a pow and a node that reads it does either of them again."""
    first = node("first", "aten.pow.Tensor_Scalar", inputs=("x",))
    last = node("last", target, inputs=("first",))
    kernels = tuple(
        kernel(number, f"triton_red_fused_{number}", kind="triton") for number in (0, 1)
    )
    traces = [_trace(number, one) for number, one in enumerate((first, last))]
    refs = [NodeRef(0, one.name) for one in (first, last)]
    alignment = Alignment(
        capture(op_calls=tuple(trace.call for trace in traces)),
        capture("compiled", kernels=kernels),
        traces,
        Lineage(frames={}, nodes={NodeRef(0, one.name): one for one in (first, last)}),
        {"k0": refs, "k1": refs},
        [],
    )
    facts = Facts(alignment)
    return [is_recomputed(facts, trace, item) for trace in traces for item in ("k0", "k1")]


def _trace(number: int, made: GraphNode) -> OpTrace:
    trace = OpTrace(op(number, f"aten::{made.name}"))
    trace.items, trace.finals = ("k0", "k1"), [NodeRef(0, made.name)]
    return trace


def test_a_pointwise_op_in_two_kernels_is_computed_twice() -> None:
    """Neither kernel stores it for the other."""
    assert _done_again("aten.exp.default") == [True] * 4


def test_a_reduction_in_two_steps_is_computed_once() -> None:
    """The first kernel computes what leads to it and parts of the sum, the second one their sum."""
    assert _done_again("aten.sum.default") == [False] * 4


def test_a_scatter_is_computed_once() -> None:
    """One kernel clears the result, the other one computes what is added and adds it."""
    assert _done_again("aten.scatter_add.default") == [False] * 4
    assert _done_again("aten.index_put.default") == [False] * 4
