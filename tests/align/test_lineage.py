"""Tests of compdiff.align.lineage on graphs made by hand."""

from compdiff.align.lineage import NodeRef, trace_lineage
from compdiff.model import CompiledGraph, Compiler, Graph, GraphNode, PassEvent


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
