"""Of the nodes that a right item names, those that it computes. In: items, their nodes, the graphs. Out: fewer nodes.

Inductor names for a call the nodes of its inputs too, where it laid one out anew for it, and with them all that led there.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from compdiff.align.lineage import NodeRef
from compdiff.model import GraphNode, Kernel, OpCall


def own_nodes(
    items: Iterable[tuple[str, OpCall | Kernel]],
    named: Mapping[str, list[NodeRef]],
    nodes: Mapping[NodeRef, GraphNode],
) -> dict[str, list[NodeRef]]:
    """Return, for each item of `named`, the nodes that it computes.

    Of several nodes of its op a library call computes those that no earlier one of its graph does. A generated kernel
    computes nothing that lies behind a library call's node.
    """
    made = {item: one for item, one in items if item in named}
    calls = {item: one for item, one in made.items() if isinstance(one, OpCall)}
    found = _of_library_calls(calls, named, nodes)
    computed = {ref for item in calls for ref in found[item]}
    for item in made:
        if item not in calls:
            found[item] = _before(computed, named[item], nodes)
    return {item: found[item] for item in named}


def _of_library_calls(
    calls: Mapping[str, OpCall],
    named: Mapping[str, list[NodeRef]],
    nodes: Mapping[NodeRef, GraphNode],
) -> dict[str, list[NodeRef]]:
    found: dict[str, list[NodeRef]] = {}
    done: dict[int | None, dict[NodeRef, int | None]] = defaultdict(dict)
    for item, call in calls.items():
        name = call.name.replace("::", ".")
        of_op = [ref for ref in named[item] if _is_of(ref, f"{name}.", nodes)]
        # A graph that is called again makes the same calls, each from its own place in the wrapper.
        before = done[call.graph]
        new = [ref for ref in of_op if before.get(ref, call.call) == call.call]
        found[item] = new or of_op or named[item]
        before |= {ref: call.call for ref in new if ref not in before}
    return found


def _is_of(ref: NodeRef, prefix: str, nodes: Mapping[NodeRef, GraphNode]) -> bool:
    return ref in nodes and nodes[ref].target.startswith(prefix)


def _before(
    computed: set[NodeRef], refs: list[NodeRef], nodes: Mapping[NodeRef, GraphNode]
) -> list[NodeRef]:
    """Return the nodes from which a result of the kernel is reached without another library call's node between."""
    here = {(ref.graph, ref.name): ref for ref in refs}
    sources = {
        ref: [here[ref.graph, name] for name in nodes[ref].inputs if (ref.graph, name) in here]
        if ref in nodes
        else []
        for ref in refs
    }
    read = {source for found in sources.values() for source in found}
    waiting = [ref for ref in refs if ref not in read]
    kept = set(waiting)
    # A result that a library call computes is one that the kernel prepares.
    waiting = [source for ref in waiting for source in sources[ref]]
    while waiting:
        ref = waiting.pop()
        if ref not in kept:
            kept.add(ref)
            waiting += () if ref in computed else sources[ref]
    return [ref for ref in refs if ref in kept]
