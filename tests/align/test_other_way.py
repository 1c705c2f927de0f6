"""Code that only one side runs."""

import msgspec

from compdiff.align.lineage import Lineage, NodeRef
from compdiff.align.other_way import OTHER_WAY, graphs_around, match_other_way
from compdiff.align.traces import Alignment, OpTrace
from compdiff.model import Graph, SourceLocation
from tests.builders import at, capture, compiler, graph, node, op, tensor


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


def _step(torch_line: SourceLocation) -> Alignment:
    """Return an untraced op call on the user's line `optimizer.step()`, and nodes elsewhere: k2's traced, k1's not."""
    step = at("train.py", 9, "optimizer.step()")
    calls = [
        msgspec.structs.replace(
            op(number, name),
            source=step,
            outputs=(msgspec.structs.replace(tensor(4), value=number, storage=number),),
        )
        for number, name in enumerate(("aten::_foreach_mul_", "aten::_foreach_div_"))
    ]
    traces = [OpTrace(call) for call in calls]
    traces[0].compile_id, traces[0].dynamo_node, traces[0].by = "0/0", "mul_", "attribution pass"
    nodes = (node("mul_", source=torch_line), node("pow", source=torch_line))
    refs = {
        NodeRef(0, "mul"): node("mul", dynamo_nodes=("mul_",)),
        NodeRef(0, "pow_1"): node("pow_1", dynamo_nodes=("pow",)),
    }
    made = graph(dynamo=Graph(stage="dynamo", nodes=nodes))
    left = capture(op_calls=tuple(calls), output_values=(1,))
    right = capture(compiler=compiler((made,)))
    items = {"k1": [NodeRef(0, "pow_1")], "k2": [NodeRef(0, "mul")]}
    return Alignment(left, right, traces, Lineage({}, refs), items, [])


def test_the_other_way_through_code_of_torch_is_that_of_the_users_line() -> None:
    """Op calls of an optimizer's step stand on the line that calls it, its nodes on lines of torch."""
    made = _step(at("/venv/site-packages/torch/optim/adam.py", 734, "torch._foreach_pow(...)"))
    match_other_way(made)
    assert (made.traces[1].by, made.traces[1].items) == (OTHER_WAY, ("k1",))


def test_code_of_the_user_elsewhere_is_no_other_way() -> None:
    """Nodes of the user's other functions are not what a line became."""
    made = _step(at("model.py", 3, "x.pow(2)"))
    match_other_way(made)
    assert (made.traces[1].by, made.traces[1].items) == (OTHER_WAY, ())
