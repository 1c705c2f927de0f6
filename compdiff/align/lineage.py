"""What became of each graph node. In: a compiler's graphs and pass log. Out: node -> node -> wrapper call.

A name means the same node from the joint graph to the post-grad graphs of both directions, so a node's fate is read by
replaying the pass log over the names.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import msgspec

from compdiff.model import PRE_GRAD, CompiledGraph, Compiler, GraphNode, PassEvent

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
    the events that removed it; `made_by` maps a node that a pass made to that event. `taken` maps a Dynamo node to the
    events that took it before autograd traced the graph.
    """

    compile_id: str
    joint: tuple[GraphNode, ...] = ()
    finals: dict[str, list[NodeRef]] = field(default_factory=lambda: defaultdict(list))
    gone: dict[str, list[PassEvent]] = field(default_factory=lambda: defaultdict(list))
    made_by: dict[str, PassEvent] = field(default_factory=dict)
    events: list[tuple[PassEvent, frozenset[str], frozenset[str]]] = field(default_factory=list)
    taken: dict[str, list[PassEvent]] = field(default_factory=lambda: defaultdict(list))
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
    frame = FrameLineage(compile_id=compile_id)
    frame.joint = joint = _named_as_dynamo_did(frame, joint, graphs)
    origins = {node.name: frozenset([node.name]) for node in joint}
    for event in _events(graphs, "joint"):
        _replay(frame, origins, event)
    for graph in graphs:
        own = dict(origins)
        for event in _events([graph], "post_grad"):
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


def _named_as_dynamo_did(
    frame: FrameLineage, joint: tuple[GraphNode, ...], graphs: list[CompiledGraph]
) -> tuple[GraphNode, ...]:
    """Return the joint nodes with Dynamo nodes for those that passes made of them before autograd traced the graph."""
    origins: dict[str, frozenset[str]] = {}
    for event in _events(graphs, PRE_GRAD):
        before = _origins_of(origins, event)
        origins |= _origins_made(origins, event)
        frame.events.append((event, before, frozenset()))
        for name in before if _changes_ops(event) else ():
            frame.taken[name].append(event)
    if not origins:
        return joint
    return tuple(
        msgspec.structs.replace(
            node,
            dynamo_nodes=tuple(
                dict.fromkeys(
                    name
                    for made in node.dynamo_nodes
                    for name in sorted(origins.get(made, frozenset([made])))
                )
            ),
        )
        for node in joint
    )


def _changes_ops(event: PassEvent) -> bool:
    """Return whether an event does more than to write the same calls in another way."""
    return {node.target for node in event.removed} != {node.target for node in event.created}


def _events(graphs: list[CompiledGraph], stage: str) -> Iterable[PassEvent]:
    return (event for graph in graphs for event in graph.passes if event.stage == stage)


def _replay(frame: FrameLineage, origins: dict[str, frozenset[str]], event: PassEvent) -> None:
    """Move the origins of removed nodes to the nodes made in their place, and note the event with both."""
    removed = [node.name for node in event.removed]
    created = [node.name for node in event.created]
    before = _origins_of(origins, event)
    origins |= _origins_made(origins, event)
    for name in created:
        frame.made_by[name] = event
    for name in removed:
        for origin in origins.get(name, frozenset([name])):
            frame.gone[origin].append(event)
    frame.events.append((event, before, frozenset(created)))


def _origins_of(origins: Mapping[str, frozenset[str]], event: PassEvent) -> frozenset[str]:
    """Return the origins of all nodes that an event removed."""
    return frozenset().union(*(origins.get(it.name, frozenset([it.name])) for it in event.removed))


def _origins_made(
    origins: Mapping[str, frozenset[str]], event: PassEvent
) -> dict[str, frozenset[str]]:
    """Return the origins of the nodes that an event made: of a pattern all, of a pass those of what they replace.

    A node that took another's place does its work, and so do the nodes made with it that it reads: of several products that
    became one, each was replaced by a view of the one.
    """
    made = {node.name: node.inputs for node in event.created}
    if event.pattern:
        return dict.fromkeys(made, _origins_of(origins, event))
    found: dict[str, frozenset[str]] = dict.fromkeys(made, frozenset())
    for old in event.replacements:
        for name in _with_inputs(_last(old, event), made):
            found[name] |= origins.get(old, frozenset([old]))
    return found


def _last(name: str, event: PassEvent) -> str:
    """Return the node that stands for a replaced one in the end: a pass may replace a node by one that it replaces too."""
    seen = {name}
    while name in event.replacements and event.replacements[name] not in seen:
        name = event.replacements[name]
        seen.add(name)
    return name


def _with_inputs(name: str, made: Mapping[str, tuple[str, ...]]) -> set[str]:
    """Return a made node with the made nodes that it reads, directly or not; nothing for a node that was there before.

    What reads nothing itself, as random seeds, is the pass's own addition.
    """
    found = {name} & made.keys()
    waiting = list(made.get(name, ()))
    while waiting:
        one = waiting.pop()
        if made.get(one) and one not in found:
            found.add(one)
            waiting += made[one]
    return found
