"""Of the nodes that a right item names, those that it computes. In: items, their nodes, the graphs. Out: fewer nodes.

Inductor names for a call the nodes of its inputs too, where it laid one out anew for it, and with them all that led there.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from compdiff.align.inlined import NOT_COMPUTING
from compdiff.align.lineage import NodeRef
from compdiff.model import GraphNode, Kernel, OpCall

_UNKNOWN = -1


def own_nodes(
    items: Iterable[tuple[str, OpCall | Kernel]],
    named: Mapping[str, list[NodeRef]],
    nodes: Mapping[NodeRef, GraphNode],
) -> dict[str, list[NodeRef]]:
    """Return, for each item of `named`, the nodes that it computes.

    Of several nodes of its op a library call computes those that no earlier one of its graph does. A generated kernel
    computes nothing that lies behind a library call's node, or behind what an earlier kernel of its graph ends in: it reads
    the results of both.
    """
    made = {item: one for item, one in items if item in named}
    calls = {item: one for item, one in made.items() if isinstance(one, OpCall)}
    found = _of_library_calls(calls, named, nodes)
    computed = {ref for item in calls for ref in found[item]}
    kernels = {item: one for item, one in made.items() if isinstance(one, Kernel)}
    found |= _of_kernels(kernels, computed, named, nodes)
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


def _of_kernels(
    kernels: Mapping[str, Kernel],
    computed: set[NodeRef],
    named: Mapping[str, list[NodeRef]],
    nodes: Mapping[NodeRef, GraphNode],
) -> dict[str, list[NodeRef]]:
    found: dict[str, list[NodeRef]] = {}
    stored: dict[int | None, set[NodeRef]] = defaultdict(set)
    # In the order of the wrapper, in which a graph that runs twice makes each call twice.
    for place, same in groupby(sorted(kernels.items(), key=_place), key=_place):
        items = [item for item, _ in same]
        graph = kernels[items[0]].graph
        for item in items:
            found[item] = _before(computed, stored[graph], named[item], nodes)
        if _UNKNOWN not in place:
            stored[graph] |= _ends(named[items[0]], nodes)
    return found


def _place(entry: tuple[str, Kernel]) -> tuple[int, int]:
    graph, call = entry[1].graph, entry[1].call
    return (_UNKNOWN if graph is None else graph, _UNKNOWN if call is None else call)


def _ends(refs: list[NodeRef], nodes: Mapping[NodeRef, GraphNode]) -> set[NodeRef]:
    """Return the nodes that none of the others reads."""
    read = {source for sources in _sources(refs, nodes).values() for source in sources}
    return set(refs) - read


def _sources(
    refs: list[NodeRef], nodes: Mapping[NodeRef, GraphNode]
) -> dict[NodeRef, list[NodeRef]]:
    """Return, for each node, those of the others that it reads."""
    here = set(refs)
    return {ref: list(_read(ref, here, nodes)) for ref in refs}


def _read(
    ref: NodeRef, here: set[NodeRef], nodes: Mapping[NodeRef, GraphNode]
) -> Iterator[NodeRef]:
    """Yield those of `here` that a node reads, through views too, which are not always named."""
    for name in nodes[ref].inputs if ref in nodes else ():
        source = NodeRef(ref.graph, name)
        if source in here:
            yield source
        elif source in nodes and nodes[source].target in NOT_COMPUTING:
            yield from _read(source, here, nodes)


def _before(
    computed: set[NodeRef],
    stored: set[NodeRef],
    refs: list[NodeRef],
    nodes: Mapping[NodeRef, GraphNode],
) -> list[NodeRef]:
    """Return the nodes from which a result of the kernel is reached without one that was computed or stored between.

    Of a library call's node a kernel may do a part, as its bias; a stored one it only reads.
    """
    sources = _sources(refs, nodes)
    kept = _ends(refs, nodes)
    # A result that a library call computes is one that the kernel prepares.
    waiting = [source for ref in kept for source in sources[ref]]
    while waiting:
        ref = waiting.pop()
        if ref not in kept and ref not in stored:
            kept.add(ref)
            waiting += () if ref in computed else sources[ref]
    return [ref for ref in refs if ref in kept]
