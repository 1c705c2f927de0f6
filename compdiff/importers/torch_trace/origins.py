"""The Dynamo nodes of joint nodes. In: both graphs, and what the log says of some nodes. Out: joint nodes that name them.

AOTAutograd traces the Dynamo graph node by node, so that the forward part of a joint graph has its order. Where the log does
not say which Dynamo node a joint node is from, it lies between those of its neighbours, on the same source line.
"""

from collections.abc import Mapping, Sequence

import msgspec

from compdiff.importers.torch_trace.changes import op_of
from compdiff.model import GraphNode

# Python's names of calls by the ATen ops that they become, where another name stands for them.
_BECOMES = {
    "matmul": frozenset({"mm", "bmm", "addmm", "mv", "dot", "view", "expand", "permute"}),
    "linear": frozenset({"addmm", "mm", "permute", "t", "view", "add"}),
    "truediv": frozenset({"div"}),
    "iadd": frozenset({"add"}),
    "imul": frozenset({"mul"}),
    "to": frozenset({"convert_element_type", "_to_copy", "device_put"}),
    "float": frozenset({"convert_element_type", "_to_copy"}),
    "getitem": frozenset({"select", "slice", "index", "unsqueeze", "getitem"}),
}


def with_origins(
    joint: Sequence[GraphNode],
    dynamo: Sequence[GraphNode],
    sources: Mapping[str, tuple[str, ...]],
) -> tuple[GraphNode, ...]:
    """Return the joint nodes with their Dynamo nodes and directions."""
    marked = _with_directions(joint)
    calls = [node for node in dynamo if node.op not in {"placeholder", "output"}]
    order = {node.name: number for number, node in enumerate(calls)}
    told = {
        node.name: tuple(name for name in sources.get(node.name, ()) if name in order)
        for node in marked
    }
    forward = [node for node in marked if node.op == "call_function" and not node.backward]
    inferred = _inferred(forward, calls, {name: names for name, names in told.items() if names})
    return tuple(
        msgspec.structs.replace(node, dynamo_nodes=told[node.name] or inferred.get(node.name, ()))
        for node in marked
    )


def _with_directions(joint: Sequence[GraphNode]) -> list[GraphNode]:
    """Return the nodes, backward from the first one on that reads a gradient, or where a comment says so."""
    found: list[GraphNode] = []
    gradients = {
        node.name for node in joint if node.op == "placeholder" and node.name.startswith("tangents")
    }
    backward = False
    for node in joint:
        backward = backward or node.backward or bool(gradients & set(node.inputs))
        is_backward = backward and node.op not in {"placeholder", "output"}
        found.append(msgspec.structs.replace(node, backward=is_backward))
    return found


def _inferred(
    forward: Sequence[GraphNode], calls: Sequence[GraphNode], told: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    order = {node.name: number for number, node in enumerate(calls)}
    bounds = [
        min((order[name] for name in told[node.name]), default=None) if node.name in told else None
        for node in forward
    ]
    found: dict[str, tuple[str, ...]] = {}
    low = 0
    for index, node in enumerate(forward):
        own = bounds[index]
        if own is not None:
            low = max(low, own)
            continue
        following = (bound for bound in bounds[index:] if bound is not None and bound >= low)
        high = next(following, len(calls) - 1)
        chosen = _chosen(forward[index:], calls[low : high + 1])
        if chosen is not None:
            found[node.name] = (chosen.name,)
            low = order[chosen.name]
    return found


def _chosen(following: Sequence[GraphNode], candidates: Sequence[GraphNode]) -> GraphNode | None:
    """Return the Dynamo node of the first of the joint nodes that follow: one on its line, and of its op if one may be.

    A call that has no joint node of its own name was decomposed: it takes nodes of any op, but for as many as the calls
    of that op that follow need themselves.
    """
    node = following[0]
    here = [one for one in candidates if _line(one) == _line(node)]
    candidates = here or candidates
    named = [one for one in candidates if _becomes(one, op_of(node))]
    ops = {op_of(one) for one in following}
    decomposed = [one for one in candidates if not any(_becomes(one, op) for op in ops)]
    alike = [one for one in following if _line(one) == _line(node) and op_of(one) == op_of(node)]
    if named and (not decomposed or len(alike) <= len(named) or named[0] is candidates[0]):
        return named[0]
    return next(iter(decomposed or named or candidates), None)


def _line(node: GraphNode) -> tuple[str, int] | None:
    return (node.source.file, node.source.line) if node.source is not None else None


def _becomes(call: GraphNode, op: str) -> bool:
    name = call_name(call)
    return op in _BECOMES.get(name, ()) or op.strip("_") == name.strip("_")


def call_name(call: GraphNode) -> str:
    """Return what a Dynamo node calls, without module: `torch._C._nn.gelu` gives `gelu`."""
    return call.target.rpartition(".")[2]
