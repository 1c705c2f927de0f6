"""What became of each graph node. In: a compiler's graphs and pass log. Out: node -> node -> wrapper call.

A name means the same node from the joint graph to the post-grad graphs of both directions, so a node's fate is read by
replaying the pass log over the names.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from compdiff.model import CompiledGraph, Compiler, GraphNode, PassEvent

_HIGHER = "torch.ops.higher_order."


@dataclass(frozen=True)
class NodeRef:
    """A node of a compiled graph's post-grad graph."""

    graph: int
    name: str


@dataclass
class FrameLineage:
    """The graphs of one compile id (forward and backward of one frame).

    `finals` maps a joint node to the post-grad nodes that do its work; `gone` maps a joint node, or one made by a pass, to
    the events that removed it; `made_by` maps a node that a pass made to that event.
    """

    compile_id: str
    joint: tuple[GraphNode, ...] = ()
    finals: dict[str, list[NodeRef]] = field(default_factory=lambda: defaultdict(list))
    gone: dict[str, list[PassEvent]] = field(default_factory=lambda: defaultdict(list))
    made_by: dict[str, PassEvent] = field(default_factory=dict)
    events: list[tuple[PassEvent, frozenset[str], frozenset[str]]] = field(default_factory=list)
    names: dict[int, dict[str, frozenset[str]]] = field(default_factory=dict)


@dataclass
class Lineage:
    """The lineages of all frames, and all post-grad nodes."""

    frames: dict[str, FrameLineage]
    nodes: dict[NodeRef, GraphNode]

    def joint_origins(self, compile_id: str, ref: NodeRef) -> frozenset[str]:
        """Return the joint nodes whose work a post-grad node does."""
        return self.frames[compile_id].names.get(ref.graph, {}).get(ref.name, frozenset())


def trace_lineage(compiler: Compiler) -> Lineage:
    """Return what became of every joint node of `compiler`'s graphs."""
    lineage = Lineage(frames={}, nodes={})
    by_frame: dict[str, list[CompiledGraph]] = defaultdict(list)
    for graph in compiler.graphs:
        by_frame[graph.compile_id].append(graph)
    for compile_id, graphs in by_frame.items():
        lineage.frames[compile_id] = _frame(compile_id, graphs)
        for graph in graphs:
            nodes = graph.post_grad.nodes if graph.post_grad else ()
            lineage.nodes |= {NodeRef(graph.id, node.name): node for node in nodes}
    return lineage


def _frame(compile_id: str, graphs: list[CompiledGraph]) -> FrameLineage:
    joint = next((graph.joint.nodes for graph in graphs if graph.joint), ())
    frame = FrameLineage(compile_id=compile_id, joint=joint)
    origins = {node.name: frozenset([node.name]) for node in joint}
    for event in _events(graphs, joint_stage=True):
        _replay(frame, origins, event)
    for graph in graphs:
        own = dict(origins)
        for event in _events([graph], joint_stage=False):
            _replay(frame, own, event)
        own |= _renamed(joint, own, graph)
        frame.names[graph.id] = own
        for node in graph.post_grad.nodes if graph.post_grad else ():
            for name in own.get(node.name, ()):
                frame.finals[name].append(NodeRef(graph.id, node.name))
    return frame


def _renamed(
    joint: tuple[GraphNode, ...], origins: Mapping[str, frozenset[str]], graph: CompiledGraph
) -> dict[str, frozenset[str]]:
    """Return the origins of higher-order nodes of the post-grad graph that no event made: the joint ones of the same place.

    Making a node write in place (`triton_kernel_wrapper_functional` to `_mutation`) is not logged.
    """
    nodes = graph.post_grad.nodes if graph.post_grad else ()
    names = {node.name for node in nodes}
    gone = [node for node in joint if node.target.startswith(_HIGHER) and node.name not in names]
    found = {}
    for node in nodes:
        if not node.target.startswith(_HIGHER) or node.name in origins:
            continue
        before = next((it for it in gone if it.dynamo_nodes == node.dynamo_nodes), None)
        if before is not None:
            gone.remove(before)
            found[node.name] = frozenset([before.name])
    return found


def _events(graphs: list[CompiledGraph], *, joint_stage: bool) -> Iterable[PassEvent]:
    return (
        event
        for graph in graphs
        for event in graph.passes
        if (event.stage == "joint") == joint_stage
    )


def _replay(frame: FrameLineage, origins: dict[str, frozenset[str]], event: PassEvent) -> None:
    """Move the origins of removed nodes to the nodes made in their place, and note the event with both."""
    removed = [node.name for node in event.removed]
    created = [node.name for node in event.created]
    before = frozenset().union(*(origins.get(name, frozenset([name])) for name in removed))
    if event.pattern:
        for name in created:
            origins[name] = before
    else:
        for name in created:
            sources = [old for old, new in event.replacements.items() if new == name]
            origins[name] = frozenset().union(*(origins.get(old, frozenset()) for old in sources))
    for name in created:
        frame.made_by[name] = event
    for name in removed:
        for origin in origins.get(name, frozenset([name])):
            frame.gone[origin].append(event)
    frame.events.append((event, before, frozenset(created)))
