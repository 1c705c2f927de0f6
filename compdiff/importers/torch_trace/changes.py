"""What passes changed, read off the graphs before and after them. In: two graphs. Out: PassEvent records.

A log does not name the patterns that fired. Each event is one replaced node with the removed nodes that led to it; where
what was made and removed fits a known pattern, the event has that pattern's name, and says that it was recognised.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from compdiff.model import Graph, GraphNode, PassEvent

BY_COMPARISON = "logged graphs"
_RECOGNISED = "recognised in the logged graphs before and after"
_UNNAMED = "difference of the logged graphs"


@dataclass(frozen=True)
class Pattern:
    """A pattern by what it makes and removes: ops of ATen without overload; `only` are all that it may remove."""

    name: str
    made: str
    removed: frozenset[str]
    only: frozenset[str] = frozenset()


_CONVERSIONS = frozenset({"convert_element_type"})
# Source: torch/_inductor/fx_passes/post_grad.py, joint_graph.py, fuse_attention.py (torch 2.14); names of handlers.
PATTERNS = (
    Pattern("addmm", "addmm", frozenset({"mm", "add"})),
    Pattern("addmm", "baddbmm", frozenset({"bmm", "add"})),
    Pattern("unfuse_bias_add_to_pointwise", "add", frozenset({"addmm"})),
    Pattern("_sfdp_pattern", "_scaled_dot_product", frozenset({"bmm"})),
    Pattern("prepare_softmax", "prepare_softmax_online", frozenset({"amax"})),
    Pattern("constant_fold_uniform_value", "full", frozenset()),
    Pattern("pointless_convert", "convert_element_type", frozenset(), _CONVERSIONS),
)


@dataclass
class _Pair:
    """Both graphs: nodes by name, those only before (`removed`) and only after (`made`), and which are accounted for."""

    before: Mapping[str, GraphNode]
    after: Mapping[str, GraphNode]
    removed: dict[str, GraphNode] = field(init=False)
    made: dict[str, GraphNode] = field(init=False)
    done: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.removed = _only(self.before, self.after)
        self.made = _only(self.after, self.before)


def merged(graphs: Sequence[Graph]) -> Graph:
    """Return the nodes of graphs together: those of a forward and a backward graph, without what both only pass on."""
    nodes: dict[str, GraphNode] = {}
    for graph in graphs:
        for node in graph.nodes:
            name = f"output {len(nodes)}" if node.op == "output" else node.name
            if name not in nodes or nodes[name].op == "placeholder":
                nodes[name] = node
    return Graph(stage=graphs[0].stage, nodes=tuple(nodes.values()))


def graph_changes(before: Graph, after: Graph, stage: str) -> tuple[PassEvent, ...]:
    """Return what was removed and made between two graphs of one stage, one event for each replacement."""
    pair = _Pair(_by_name(before), _by_name(after))
    events: list[PassEvent] = []
    pending = list(_replacements(before, after, pair))
    while pending:
        old, new = pending.pop()
        if old in pair.done or old not in pair.removed:
            continue
        event, further = _event(pair, old, new, stage)
        events.append(event)
        pending += further
    return tuple(reversed(events))


def _by_name(graph: Graph) -> dict[str, GraphNode]:
    return {node.name: node for node in graph.nodes}


def _only(ours: Mapping[str, GraphNode], theirs: Mapping[str, GraphNode]) -> dict[str, GraphNode]:
    return {
        name: node
        for name, node in ours.items()
        if name not in theirs and node.op not in {"placeholder", "output"}
    }


def _replacements(before: Graph, after: Graph, pair: _Pair) -> Iterable[tuple[str, str]]:
    """Yield (removed node, node in its place) as the nodes that stayed show it: each reads another one now."""
    for node in after.nodes:
        earlier = pair.before.get(node.name)
        if node.op != "output" and earlier is not None:
            yield from _exchanged(earlier.inputs, node.inputs)
    outputs = [
        [node.inputs for node in graph.nodes if node.op == "output"] for graph in (before, after)
    ]
    if len(outputs[0]) == len(outputs[1]) == 1:
        yield from _exchanged(outputs[0][0], outputs[1][0])
        return
    # A joint graph's outputs stand in those of two graphs, among the tensors that these hand on.
    kept = {name for inputs in outputs[1] for name in inputs}
    lost = [name for inputs in outputs[0] for name in inputs if name not in pair.after]
    new = [name for name in pair.made if name in kept]
    yield from zip(lost, new, strict=False)


def _exchanged(old: Sequence[str], new: Sequence[str]) -> list[tuple[str, str]]:
    """Return which inputs took the place of which: position by position, or of those that are not in both."""
    if len(old) == len(new):
        return [(one, other) for one, other in zip(old, new, strict=True) if one != other]
    lost = [name for name in old if name not in new]
    gained = [name for name in new if name not in old]
    if len(lost) == len(gained):
        return list(zip(lost, gained, strict=True))
    # What was taken away without anything new is replaced by an input that was there already.
    return [(name, new[0]) for name in lost] if new and not gained else []


def _event(pair: _Pair, old: str, new: str, stage: str) -> tuple[PassEvent, list[tuple[str, str]]]:
    """Return the event in which `new` took the place of `old`, and the replacements among the inputs of both."""
    made = [new] if new in pair.made and new not in pair.done else []
    needed = _needed(pair.made[new]) if made else frozenset()
    removed = _removed(pair, old, needed, pair.made[new].inputs if made else ())
    frontier = [
        name
        for one in removed
        for name in pair.removed[one].inputs
        if name in pair.removed and name not in removed and name not in pair.done
    ]
    inputs = [name for name in (pair.made[new].inputs if made else ()) if name in pair.made]
    inputs = [name for name in inputs if name not in pair.done]
    further = list(zip(dict.fromkeys(frontier), inputs, strict=False))
    if made and not further:
        made += _made_on_the_way(pair, new)
    pair.done.update(removed, made)
    gone, came = [pair.removed[name] for name in removed], [pair.made[name] for name in made]
    pattern = _pattern(gone, came)
    return (
        PassEvent(
            stage=stage,
            pass_name=_pass_name(pair, old, new, made),
            pattern=pattern if came or pattern != _UNNAMED else "",
            location=_RECOGNISED,
            removed=tuple(gone),
            created=tuple(came),
            replacements={old: new},
        ),
        further,
    )


def _removed(pair: _Pair, old: str, needed: frozenset[str], inputs: Sequence[str]) -> list[str]:
    """Return the removed nodes that led to `old`: until all that a pattern needs is there, or what is read stayed."""
    found: list[str] = []
    missing = set(needed)
    pending = [old]
    while pending:
        name = pending.pop(0)
        if name in found or name in pair.done or name not in pair.removed or name in inputs:
            continue
        found.append(name)
        missing.discard(op_of(pair.removed[name]))
        if needed and not missing:
            break
        pending += pair.removed[name].inputs
    order = list(pair.before)
    return sorted(found, key=order.index)


def _made_on_the_way(pair: _Pair, new: str) -> list[str]:
    """Return the other new nodes that the new one reads."""
    found: list[str] = []
    pending = list(pair.made[new].inputs)
    while pending:
        name = pending.pop(0)
        if name in pair.made and name not in found and name not in pair.done:
            found.append(name)
            pending += pair.made[name].inputs
    return found


def _needed(node: GraphNode) -> frozenset[str]:
    """Return the ops that a known pattern removes to make this node."""
    return next((one.removed for one in PATTERNS if _fits(one.made, op_of(node))), frozenset())


def _pattern(removed: Sequence[GraphNode], made: Sequence[GraphNode]) -> str:
    ops, new = {op_of(node) for node in removed}, [op_of(node) for node in made]
    known = (
        one.name
        for one in PATTERNS
        if one.removed <= ops <= (one.only or ops) and any(_fits(one.made, op) for op in new)
    )
    if made:
        return next(known, _UNNAMED)
    return "pointless_convert" if ops == _CONVERSIONS else _UNNAMED


def _pass_name(pair: _Pair, old: str, new: str, made: Sequence[str]) -> str:
    """Return which pass it can have been, of those that only remove: the node repeats another, or does nothing."""
    before, other = pair.before[old], pair.before.get(new)
    if made or other is None:
        return BY_COMPARISON
    same = other.target == before.target and len(other.inputs) == len(before.inputs)
    return "fx_graph_cse" if same and new not in before.inputs else "remove_noop_ops"


def _fits(pattern: str, op: str) -> bool:
    return op == pattern or (pattern.startswith("_scaled_dot") and op.startswith(pattern))


def op_of(node: GraphNode) -> str:
    """Return a node's op without namespace and overload: `aten.add.Tensor` gives `add`."""
    parts = node.target.split(".")
    return parts[1] if len(parts) > 1 else node.target
