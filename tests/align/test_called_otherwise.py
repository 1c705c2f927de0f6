"""Lines that both sides run and that call otherwise."""

import msgspec

from compdiff.align.called_otherwise import CALLED_OTHERWISE, match_called_otherwise
from compdiff.align.lineage import Lineage, NodeRef
from compdiff.align.traces import Alignment, OpTrace
from compdiff.model import Graph, OpCall, SourceLocation
from tests.builders import at, capture, compiler, graph, node, op, tensor

BEFORE = at("model.py", 8, "q = q * 2")
LINE = at("model.py", 9, "return attention(q, mask)")
AFTER = at("model.py", 10, "return x.relu()")


def _call(number: int, name: str, source: SourceLocation, *, reads: int, makes: int) -> OpCall:
    """Return an op call on tensors of these contents, each in memory of its own."""
    read, made = (
        msgspec.structs.replace(tensor(4), value=one, storage=one) for one in (reads, makes)
    )
    return msgspec.structs.replace(op(number, name), source=source, inputs=(read,), outputs=(made,))


def alignment(line: SourceLocation = LINE, *, used: bool = True) -> Alignment:
    """Return a traced mul, an untraced attention on its line, a traced relu; Dynamo's attention is item k1's node."""
    nodes = (
        node("mul", source=BEFORE),
        node("attention", source=LINE),
        node("relu", source=AFTER, dynamo_nodes=("relu",)),
    )
    final = node("attention_1", dynamo_nodes=("attention",))
    calls = [
        _call(0, "aten::mul", BEFORE, reads=1, makes=2),
        _call(1, "aten::attention", line, reads=2, makes=3),
        _call(2, "aten::relu", AFTER, reads=3 if used else 2, makes=4),
    ]
    traces = [OpTrace(call) for call in calls]
    for trace, name in ((traces[0], "mul"), (traces[2], "relu")):
        trace.compile_id, trace.dynamo_node, trace.by = "0/0", name, "attribution pass"
    ref = NodeRef(0, "attention_1")
    made = graph(dynamo=Graph(stage="dynamo", nodes=nodes))
    left = capture(op_calls=tuple(calls), output_values=(4,))
    right = capture(compiler=compiler((made,)))
    return Alignment(left, right, traces, Lineage({}, {ref: final}), {"k1": [ref]}, [])


def test_a_call_becomes_what_its_line_became() -> None:
    """Both sides run the line between the same calls; the node that no left op call was traced to is its work."""
    made = alignment()
    match_called_otherwise(made)
    trace = made.traces[1]
    assert (trace.by, trace.items, trace.certainty) == (CALLED_OTHERWISE, ("k1",), "likely")


def test_a_node_of_the_same_name_in_another_graph_is_other_work() -> None:
    """Dynamo names the nodes of each graph anew: `attention` of graph 1/0 is not that of 0/0."""
    made = alignment()
    other = NodeRef(1, "attention_1")
    graphs = (
        (*made.right.compiler.graphs, graph(id=1, compile_id="1/0")) if made.right.compiler else ()
    )
    made.right = capture(compiler=compiler(graphs))
    made.lineage.nodes[other] = node("attention_1", dynamo_nodes=("attention",))
    made.item_nodes["k2"] = [other]
    match_called_otherwise(made)
    assert made.traces[1].items == ("k1",)


def test_a_line_that_dynamo_did_not_trace_stays_unexplained() -> None:
    """There is no node of it: nothing says what the call became."""
    made = alignment(at("model.py", 7, "q = other(q)"))
    match_called_otherwise(made)
    assert made.traces[1].items == ()


def test_a_call_that_nothing_uses_is_not_claimed() -> None:
    """Dynamo may have thrown it away."""
    made = alignment(used=False)
    match_called_otherwise(made)
    assert made.traces[1].by == ""
