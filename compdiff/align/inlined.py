"""Post-grad nodes that no wrapper call names. In: a compiled graph. Out: the generated calls that compute them inline.

Inductor names for a kernel the nodes whose results it stores, and those it finds on the way to them; where a node's
computation is read through an index (a view, a `cat`, a comparison with a number) it loses sight of it. Such a node is in
the final graph and nothing stores it: the kernels of its users compute it. A `cat` that no generated kernel reads either has
its parts written into its memory: the kernels that compute them make it. Source: ConcatKernel, torch/_inductor/ir.py.
"""

from collections import defaultdict

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
    calls = _generated_calls(graph)
    found: dict[int, list[str]] = defaultdict(list)
    for node in reversed(nodes):
        for source in set(node.inputs) - named:
            calls[source] |= calls[node.name]
        if node.name not in named and _computes(node):
            parts = node.inputs if node.target == _CAT and not calls[node.name] else ()
            for index in sorted(calls[node.name].union(*(calls[part] for part in parts))):
                found[index].append(node.name)
    return {index: tuple(reversed(names)) for index, names in found.items()}


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
