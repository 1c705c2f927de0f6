"""Tests of how the nodes of one Dynamo node are shared out among its op calls."""

from compdiff.align.joint_nodes import distribute
from compdiff.align.traces import OpTrace
from compdiff.model import GraphNode, OpCall


def _traces(*names: str) -> list[OpTrace]:
    return [OpTrace(OpCall(id=index, name=f"aten::{name}")) for index, name in enumerate(names)]


def _nodes(*pairs: str, sequence: int = -1) -> list[GraphNode]:
    nodes = []
    for pair in pairs:
        name, _, original = pair.partition("<")
        original = f"aten.{original}.default" if original else ""
        nodes.append(
            GraphNode(
                name=name,
                op="call_function",
                target=f"aten.{name}.default",
                original_aten=original,
                sequence=sequence,
            )
        )
    return nodes


def _names(traces: list[OpTrace]) -> list[list[str]]:
    return [[node.name for node in trace.joint] for trace in traces]


def test_each_call_takes_the_nodes_decomposed_from_it() -> None:
    """A linear's view and product take their own nodes."""
    traces = _traces("t", "addmm")
    distribute(traces, _nodes("permute<t", "addmm<addmm"))
    assert _names(traces) == [["permute"], ["addmm"]]
    assert {trace.certainty for trace in traces} == {"certain"}


def test_equal_calls_take_equal_runs_in_order() -> None:
    """Two softmaxes of five nodes each: the first five and the last five."""
    traces = _traces("_softmax", "_softmax")
    distribute(traces, _nodes(*[f"n{index}<_softmax" for index in range(10)]))
    assert _names(traces) == [
        [f"n{index}" for index in range(5)],
        [f"n{index}" for index in range(5, 10)],
    ]


def test_calls_that_cannot_be_told_apart_share_all() -> None:
    """Three nodes for two calls: both get all, rather than one of them a guess."""
    traces = _traces("foo", "foo")
    distribute(traces, _nodes("a<foo", "b<foo", "c<foo"))
    assert _names(traces) == [["a", "b", "c"], ["a", "b", "c"]]


def test_an_in_place_call_is_traced_as_its_functional_form() -> None:
    """add_ becomes a node of add."""
    traces = _traces("add_")
    distribute(traces, _nodes("add<add"))
    assert _names(traces) == [["add"]]


def test_nodes_of_another_op_go_to_the_call_without_any_as_likely() -> None:
    """A call that the graph knows under another op gets what is left, marked as likely."""
    traces = _traces("bernoulli_", "mul")
    distribute(traces, _nodes("rand<native_dropout", "mul<mul"))
    assert _names(traces) == [["rand"], ["mul"]]
    assert [trace.certainty for trace in traces] == ["likely", "certain"]


def test_an_allocation_takes_no_node() -> None:
    """Nothing in a graph is an allocation."""
    traces = _traces("empty_like", "relu")
    distribute(traces, _nodes("relu<relu", "other<native_dropout"))
    assert _names(traces) == [[], ["relu"]]
