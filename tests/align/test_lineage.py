"""Tests of compdiff.align.lineage on graphs made by hand."""

import msgspec

from compdiff.align.lineage import FrameLineage, NodeRef, trace_lineage
from compdiff.model import PRE_GRAD, CompiledGraph, Compiler, Graph, GraphNode, PassEvent


def _node(name: str, **fields: object) -> GraphNode:
    return GraphNode(name=name, op="call_function", target=f"aten.{name}.default", **fields)  # type: ignore[arg-type]


def _graph(
    names: list[str], passes: list[PassEvent], finals: list[str], **fields: object
) -> CompiledGraph:
    settings: dict[str, object] = {"id": 0, "direction": "inference", **fields}
    return CompiledGraph(
        compile_id="0/0",
        joint=Graph(stage="joint", nodes=tuple(_node(name) for name in names)) if names else None,
        post_grad=Graph(stage="post_grad", nodes=tuple(_node(name) for name in finals)),
        passes=tuple(passes),
        **settings,  # type: ignore[arg-type]
    )


def _event(
    stage: str, removed: list[str], created: list[str], *, pattern: str = "", **replacements: str
) -> PassEvent:
    return PassEvent(
        stage=stage,
        pass_name="p",
        pattern=pattern,
        removed=tuple(_node(name) for name in removed),
        created=tuple(_node(name) for name in created),
        replacements=replacements,
    )


def _finals(*graphs: CompiledGraph) -> dict[str, list[NodeRef]]:
    lineage = trace_lineage(Compiler(backend="inductor", graphs=graphs))
    return dict(lineage.frames["0/0"].finals)


def test_a_node_that_no_pass_touches_is_itself() -> None:
    """A joint node lives on under its name."""
    assert _finals(_graph(["mm"], [], ["mm"])) == {"mm": [NodeRef(0, "mm")]}


def test_a_pattern_hands_all_removed_nodes_to_all_made() -> None:
    """Mm and add become addmm: it does the work of both."""
    event = _event("post_grad", ["mm", "add"], ["addmm"], pattern="addmm", add="addmm")
    assert _finals(_graph(["mm", "add"], [event], ["addmm"])) == {
        "mm": [NodeRef(0, "addmm")],
        "add": [NodeRef(0, "addmm")],
    }


def test_a_pass_without_pattern_hands_over_by_replacement() -> None:
    """A pass that replaces many nodes hands each one's work to its own replacement."""
    event = _event("joint", ["a", "b"], ["a2", "b2"], a="a2", b="b2")
    assert _finals(_graph(["a", "b"], [event], ["a2", "b2"])) == {
        "a": [NodeRef(0, "a2")],
        "b": [NodeRef(0, "b2")],
    }


def test_a_removed_node_does_no_work() -> None:
    """A node whose users take an older node instead has no final, and the event is kept as the reason."""
    event = _event("joint", ["noop"], [], noop="x")
    lineage = trace_lineage(
        Compiler(backend="inductor", graphs=(_graph(["x", "noop"], [event], ["x"]),))
    )
    frame = lineage.frames["0/0"]
    assert dict(frame.finals) == {"x": [NodeRef(0, "x")]}
    assert frame.gone["noop"] == [event]


def test_chains_of_patterns_are_followed() -> None:
    """A node made by one pattern and taken by the next still carries its origins."""
    first = _event("joint", ["a", "b"], ["ab"], pattern="one")
    second = _event("post_grad", ["ab", "c"], ["abc"], pattern="two")
    finals = _finals(_graph(["a", "b", "c"], [first, second], ["abc"]))
    assert finals == {name: [NodeRef(0, "abc")] for name in "abc"}


def test_a_node_in_both_directions_is_recomputed() -> None:
    """A name in the forward and the backward graph is one node whose work is done twice."""
    forward = _graph(["sub"], [], ["sub"], direction="forward")
    backward = _graph([], [], ["sub"], id=1, direction="backward")
    assert _finals(forward, backward) == {"sub": [NodeRef(0, "sub"), NodeRef(1, "sub")]}


def test_post_grad_events_stay_in_their_graph() -> None:
    """A rewrite of the backward graph does not touch the forward graph's node of the same name."""
    forward = _graph(["mm"], [], ["mm"], direction="forward")
    event = _event("post_grad", ["mm"], ["addmm"], pattern="addmm")
    backward = _graph([], [event], ["addmm"], id=1, direction="backward")
    assert _finals(forward, backward) == {"mm": [NodeRef(0, "mm"), NodeRef(1, "addmm")]}


def _made(name: str, *inputs: str) -> GraphNode:
    return GraphNode(name=name, op="call_function", target=f"aten.{name}.default", inputs=inputs)


def _pass(removed: list[str], created: list[GraphNode], **replacements: str) -> PassEvent:
    event = _event("joint", removed, [], **replacements)
    return msgspec.structs.replace(event, created=tuple(created))


def test_what_a_replacement_reads_was_made_for_the_replaced() -> None:
    """Two products became views of one batched product: that product does the work of both."""
    made = [_made("stack", "x"), _made("bmm", "stack"), _made("s1", "bmm"), _made("s2", "bmm")]
    event = _pass(["mm", "mm_1"], made, mm="s1", mm_1="s2")
    finals = _finals(_graph(["x", "mm", "mm_1"], [event], ["x", "stack", "bmm", "s1", "s2"]))
    assert [ref.name for ref in finals["mm"]] == ["stack", "bmm", "s1"]
    assert [ref.name for ref in finals["mm_1"]] == ["stack", "bmm", "s2"]
    assert finals["x"] == [NodeRef(0, "x")]


def test_what_reads_nothing_is_an_addition_of_the_pass() -> None:
    """The seeds that two random ops look up are the work of neither; a constant put in a node's place is its work."""
    seeds = [_made("seeds"), _made("lookup", "seeds")]
    finals = _finals(_graph(["seed"], [_pass(["seed"], seeds, seed="lookup")], ["seeds", "lookup"]))
    assert finals == {"seed": [NodeRef(0, "lookup")]}
    full = _pass(["fill"], [_made("full")], fill="full")
    assert _finals(_graph(["fill"], [full], ["full"])) == {"fill": [NodeRef(0, "full")]}


def test_a_replacement_that_is_replaced_too_hands_on() -> None:
    """A relu after a cat moves before it: relu takes the cat's place, and then the new cat takes it."""
    made = [_made("relu_1", "x"), _made("cat_1", "relu_1")]
    event = _pass(["cat", "relu"], made, relu="cat", cat="cat_1")
    finals = _finals(_graph(["x", "cat", "relu"], [event], ["x", "relu_1", "cat_1"]))
    assert finals["relu"] == finals["cat"] == [NodeRef(0, "relu_1"), NodeRef(0, "cat_1")]


def _before_autograd(event: PassEvent, joint: list[GraphNode]) -> FrameLineage:
    graph = CompiledGraph(
        id=0,
        compile_id="0/0",
        direction="inference",
        joint=Graph(stage="joint", nodes=tuple(joint)),
        post_grad=Graph(stage="post_grad", nodes=tuple(joint)),
        passes=(msgspec.structs.replace(event, stage=PRE_GRAD),),
    )
    return trace_lineage(Compiler(backend="inductor", graphs=(graph,))).frames["0/0"]


def test_nodes_made_before_autograd_stand_for_those_of_dynamo() -> None:
    """Joint nodes of a product that a pass made of two linear layers come from both."""
    joint = [msgspec.structs.replace(_node("addmm"), dynamo_nodes=("fused",))]
    made = [_made("fused", "x"), _made("part", "fused"), _made("part_1", "fused")]
    event = _pass(["linear", "linear_1"], made, linear="part", linear_1="part_1")
    frame = _before_autograd(event, joint)
    assert frame.joint[0].dynamo_nodes == ("linear", "linear_1")
    assert [event.removed for event in frame.taken["linear"]] == [event.removed]
    # It says nothing of a joint node that has the name of a Dynamo node.
    assert not frame.gone
    assert not frame.made_by


def test_a_call_that_is_only_written_otherwise_is_not_taken() -> None:
    """A normalising pass puts the same op in its place."""
    stack = GraphNode(name="stack_1", op="call_function", target="aten.stack.default")
    frame = _before_autograd(_pass(["stack"], [stack], stack="stack_1"), [])
    assert not frame.taken
