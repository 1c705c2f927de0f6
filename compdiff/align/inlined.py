"""Post-grad nodes that no wrapper call names. In: a compiled graph. Out: the generated calls that compute them inline.

Inductor names for a kernel the nodes whose results it stores, and those it finds on the way to them; where a node's
computation is read through an index (a view, a `cat`, a comparison with a number) it loses sight of it. Such a node is in
the final graph and nothing stores it: the kernels of its users compute it. A `cat` that no generated kernel reads either has
its parts written into its memory: the kernels that compute them make it. Source: ConcatKernel, torch/_inductor/ir.py.
"""

from collections import defaultdict
from collections.abc import Mapping

from compdiff.model import CompiledGraph, GraphNode

# Targets that only look at memory in another way, allocate it, or take one of several results.
NOT_COMPUTING = frozenset(
    {
        "_operator.getitem",
        "aten.alias.default",
        "aten.as_strided.default",
        "aten.empty.memory_format",
        "aten.expand.default",
        "aten.permute.default",
        "aten.reshape.default",
        "aten.select.int",
        "aten.slice.Tensor",
        "aten.squeeze.dim",
        "aten.squeeze.dims",
        "aten.unsqueeze.default",
        "aten.view.default",
    }
)


# Targets that make a tensor of numbers alone: a kernel that reads it has the number instead.
CONSTANTS = frozenset({"aten.full.default", "aten.scalar_tensor.default"})
_CAT = "aten.cat.default"
HORIZONTAL = "aten._foreach_"


def inlined_nodes(graph: CompiledGraph) -> dict[int, tuple[str, ...]]:
    """Return, by the index of a generated call, the computing nodes that it computes without naming them, in graph order."""
    named = {name for call in graph.calls for name in call.nodes}
    nodes = graph.post_grad.nodes if graph.post_grad else ()
    library = _library_calls(graph)
    calls = _generated_calls(graph)
    # Calls that compute a node only to lay out a library call's input anew.
    preparing: dict[str, set[int]] = defaultdict(set)
    found: dict[int, list[str]] = defaultdict(list)
    for node in reversed(nodes):
        own = library.get(node.name)
        before = {index for index in calls[node.name] if own is not None and index < own}
        for source in set(node.inputs) - named:
            calls[source] |= calls[node.name] if own is None else set()
            preparing[source] |= before | preparing[node.name]
        if node.name not in named and _computes(node):
            for index in sorted(_makers(node, calls, preparing, library)):
                found[index].append(node.name)
    return {index: tuple(reversed(names)) for index, names in found.items()}


def _makers(
    node: GraphNode,
    calls: Mapping[str, set[int]],
    preparing: Mapping[str, set[int]],
    library: Mapping[str, int],
) -> set[int]:
    """Return the generated calls that compute a node which none names: its readers, of a stored `cat` its parts' kernels."""
    if node.target != _CAT or calls[node.name]:
        return calls[node.name] | preparing[node.name]
    # The first kernel that names a part computes it; that of a library call's result goes on with it.
    parts = [{at for at in calls[part] if at > library.get(part, -1)} for part in node.inputs]
    return {min(part) for part in parts if part}


def _library_calls(graph: CompiledGraph) -> dict[str, int]:
    """Return, for each node that a library call of its name computes, the index of that call."""
    targets = {node.name: node.target for node in graph.post_grad.nodes} if graph.post_grad else {}
    found: dict[str, int] = {}
    for call in graph.calls:
        parts = call.name.split(".")
        for name in call.nodes if call.kind == "extern" else ():
            if targets.get(name, "").partition(".")[2].partition(".")[0] in parts:
                found.setdefault(name, call.index)
    return found


def _generated_calls(graph: CompiledGraph) -> dict[str, set[int]]:
    """Return the generated calls that name each node."""
    calls: dict[str, set[int]] = defaultdict(set)
    for call in graph.calls:
        for name in call.nodes if call.kind != "extern" else ():
            calls[name].add(call.index)
    return calls


def _computes(node: GraphNode) -> bool:
    """Return whether a node computes; the parts of a horizontal op are computed by the one kernel that runs them all."""
    horizontal = node.target.startswith(HORIZONTAL)
    return node.op == "call_function" and node.target not in NOT_COMPUTING and not horizontal
