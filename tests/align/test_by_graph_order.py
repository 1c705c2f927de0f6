"""Alignment through a logged graph, without an attribution pass: by name and order."""

import msgspec

from compdiff.align.alignment import align
from compdiff.align.by_graph_order import BY_ORDER, graphs_that_ran
from compdiff.analysis import analyse
from compdiff.model import Capture, CompiledGraph, Diff, Graph, GraphNode, OpCall
from tests.builders import capture, compiler, graph, kernel, node, op, run, wrapper_call


def call(number: int, name: str, *chain: str, **fields: object) -> OpCall:
    """Return an imported op call, of which no outputs are known."""
    made = op(number, f"aten::{name}", chain=tuple(f"aten::{one}" for one in chain))
    return msgspec.structs.replace(made, outputs=(), **fields)


def dynamo(name: str, target: str, *inputs: str) -> GraphNode:
    """Return a call node of a Dynamo graph."""
    return node(name, target, inputs=inputs)


def joint(name: str, op_name: str, source: str = "", **fields: object) -> GraphNode:
    """Return a joint node with its Dynamo node."""
    nodes = (source,) if source else ()
    return node(name, f"aten.{op_name}.default", dynamo_nodes=nodes, **fields)


def compiled(
    dynamo_nodes: tuple[GraphNode, ...], joint_nodes: tuple[GraphNode, ...], kernels: dict[str, str]
) -> CompiledGraph:
    """Return a graph whose kernels compute nodes, given as `a b c` by the name of the kernel."""
    ends = (GraphNode(name="output", op="output", target="output"),)
    return graph(
        dynamo=Graph(stage="dynamo", nodes=(*dynamo_nodes, *ends)),
        joint=Graph(stage="joint", nodes=joint_nodes),
        post_grad=Graph(stage="post_grad", nodes=joint_nodes),
        calls=tuple(
            wrapper_call(index, name, code="x", nodes=tuple(nodes.split()))
            for index, (name, nodes) in enumerate(kernels.items())
        ),
    )


def side(*graphs: CompiledGraph, op_calls: tuple[OpCall, ...] = ()) -> Capture:
    """Return a right side that ran each kernel of each graph once."""
    made = [
        kernel(number, one.name, graph=owner.id, call=one.index)
        for number, (owner, one) in enumerate(
            (owner, one) for owner in graphs for one in owner.calls
        )
    ]
    order = tuple(f"k{one.id}" for one in made) + tuple(f"o{one.id}" for one in op_calls)
    return capture(
        "compiled", op_calls, tuple(made), compiler=compiler(graphs), call_order=order
    )  # fmt: skip


def compared(left: tuple[OpCall, ...], right: Capture) -> Diff:
    """Return the diff of an imported left side and a right one."""
    return analyse(run(capture(op_calls=left, basis="imported"), right))


def joints(left: tuple[OpCall, ...], right: Capture) -> list[list[str]]:
    """Return the joint nodes of each left op call."""
    return [
        [one.name for one in trace.joint] for trace in align(capture(op_calls=left), right).traces
    ]


def test_composite_and_decomposed_ops() -> None:
    """Linear's two calls share its nodes; gelu has all that it was decomposed into."""
    right = side(
        compiled(
            (dynamo("lin", "torch._C._nn.linear"), dynamo("act", "torch._C._nn.gelu"), dynamo("out", "_operator.mul")),
            (
                joint("permute", "permute", "lin"), joint("addmm", "addmm", "lin"), joint("mul", "mul", "act"),
                joint("erf", "erf", "act"), joint("mul_1", "mul", "out"),
            ),
            {"cpp_fused_0": "addmm", "cpp_fused_1": "mul erf mul_1"},
        )
    )  # fmt: skip
    left = (call(0, "t", "linear"), call(1, "addmm", "linear"), call(2, "gelu"), call(3, "mul"))
    assert joints(left, right) == [["permute"], ["addmm"], ["mul", "erf"], ["mul_1"]]
    diff = compared(left, right)
    assert diff.origins["k1"].op_calls == ("e2", "e3")
    assert diff.fates["e0"].fate == "eliminated"
    match = next(one for one in diff.matches if one.left == ("e2",))
    assert (match.by, match.certainty) == ("graph order", "likely")
    assert BY_ORDER in match.evidence


def test_one_composite_op_with_repeated_calls() -> None:
    """Matmul expands and views both inputs: all of it is one matmul, twice."""
    right = side(
        compiled(
            (dynamo("a", "torch.matmul"), dynamo("b", "_operator.matmul")),
            (joint("bmm", "bmm", "a"), joint("bmm_1", "bmm", "b")),
            {"cpp_fused_0": "bmm", "cpp_fused_1": "bmm_1"},
        )
    )
    names = ("expand", "view", "expand", "view", "bmm") * 2
    left = tuple(call(number, name, "matmul") for number, name in enumerate(names))
    found = joints(left, right)
    assert (found[4], found[9]) == (["bmm"], ["bmm_1"])
    diff = compared(left, right)
    assert {fate.fate for item, fate in diff.fates.items() if item not in {"e4", "e9"}} == {
        "eliminated"
    }


def test_backward_calls_take_the_nodes_between_their_neighbours() -> None:
    """A decomposed backward op has what lies between the ops that kept their names."""
    nodes = (
        joint("mul", "mul", "y"),
        *(
            joint(name, op_name, backward=True)
            for name, op_name in (("mm", "mm"), ("tanh", "tanh"), ("sub", "sub"), ("sum_1", "sum"))
        ),
    )
    forward = compiled((dynamo("y", "_operator.mul"),), nodes, {"cpp_fused_0": "mul"})
    backward = graph(
        1,
        "backward",
        dynamo=None,
        post_grad=Graph(stage="post_grad", nodes=nodes[1:]),
        calls=(wrapper_call(0, "cpp_fused_1", code="x", nodes=("mm", "tanh", "sub", "sum_1")),),
    )
    left = (
        call(0, "mul"),
        *(
            call(number, name, phase="backward")
            for number, name in enumerate(("mm", "gelu_backward", "t", "sum"), start=1)
        ),
        call(5, "detach", phase="backward", autograd_node="AccumulateGrad"),
    )
    right = side(forward, backward)
    assert joints(left, right) == [["mul"], ["mm"], ["tanh", "sub"], [], ["sum_1"], []]
    assert compared(left, right).fates["e3"].fate == "eliminated"


def test_what_runs_outside_stays_outside() -> None:
    """An op call between the graphs is kept, and takes no node."""
    right = side(
        compiled((dynamo("a", "torch.relu"),), (joint("relu", "relu", "a"),), {"cpp_fused_0": "relu"}),
        op_calls=(op(0, "aten::ones_like"),),
    )  # fmt: skip
    diff = compared((call(0, "relu"), call(1, "ones_like")), right)
    assert diff.fates["e1"].fate == "kept"
    assert diff.origins["k0"].op_calls == ("e0",)


def test_unused_results_are_dead_code() -> None:
    """Dynamo traced them, nothing reads them, and no joint node is left."""
    right = side(
        compiled(
            (dynamo("a", "torch.exp"), dynamo("b", "torch.relu"), dynamo("c", "torch.sum", "a")),
            (joint("relu", "relu", "b"),),
            {"cpp_fused_0": "relu"},
        )
    )
    graph_of = right.compiler.graphs[0] if right.compiler else None
    assert graph_of is not None
    assert graph_of.dynamo is not None
    ends = GraphNode(name="output", op="output", target="output", inputs=("b",))
    nodes = (*graph_of.dynamo.nodes[:-1], ends)
    whole = msgspec.structs.replace(graph_of, dynamo=Graph(stage="dynamo", nodes=nodes))
    right = msgspec.structs.replace(right, compiler=compiler((whole,)))
    diff = compared((call(0, "exp"), call(1, "relu"), call(2, "sum")), right)
    assert [one.rule for one in diff.rewrites] == ["dead-code", "lowered-to-kernel", "dead-code"]


def test_graphs_in_the_order_in_which_they_ran() -> None:
    """One that ran twice comes twice; another compilation of a frame that ran does not come at all."""
    first = compiled((), (joint("a", "relu"),), {"cpp_fused_0": "a"})
    other = msgspec.structs.replace(first, id=1, compile_id="0/1")
    last = msgspec.structs.replace(first, id=2, compile_id="1/0", calls=())
    right = side(other, other)
    right = msgspec.structs.replace(right, compiler=compiler((first, other, last)))
    assert right.compiler is not None
    assert [one.id for one in graphs_that_ran(right, right.compiler)] == [1, 1, 2]


def test_two_compiled_sides_are_matched_by_sequence() -> None:
    """One trace beside itself: its graphs say nothing about its own op calls."""
    right = side(compiled((), (joint("a", "relu"),), {"cpp_fused_0": "a"}), op_calls=(op(0),))
    diff = analyse(run(right, right))
    assert diff.fates["e0"].fate == "kept"
