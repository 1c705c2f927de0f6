"""The Dynamo nodes of joint nodes. In: both graphs, and what the log says of some nodes. Out: joint nodes that name them.

AOTAutograd traces the Dynamo graph node by node, so that the forward part of a joint graph has its order. Where the log does
not say which Dynamo node a joint node is from, it lies between those of its neighbours, on the same source line.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

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
        min((order[name] for name in told.get(node.name, ())), default=None) for node in forward
    ]
    ops = frozenset(op_of(node) for node in forward)
    found: dict[str, tuple[str, ...]] = {}
    given = {name for names in told.values() for name in names}
    left = Counter(_kind(node) for node in forward if node.name not in told)
    low = 0
    for index, node in enumerate(forward):
        own = bounds[index]
        if own is not None:
            low = max(low, own)
            continue
        high = next(
            (one for one in bounds[index:] if one is not None and one >= low), len(calls) - 1
        )
        chosen = _chosen(node, left[_kind(node)], _Choice(calls[low : high + 1], ops, given))
        left[_kind(node)] -= 1
        if chosen is not None:
            found[node.name] = (chosen.name,)
            given.add(chosen.name)
            low = order[chosen.name]
    return found


@dataclass(frozen=True)
class _Choice:
    """Dynamo calls to choose from, the ops of the joint graph, and the calls that have joint nodes already."""

    calls: Sequence[GraphNode]
    ops: frozenset[str]
    given: AbstractSet[str]

    def on_line(self, node: GraphNode) -> "_Choice":
        """Return the calls on a node's line, or all where none is."""
        here = [one for one in self.calls if _line(one) == _line(node)]
        return replace(self, calls=here or self.calls)

    def is_decomposed(self, call: GraphNode) -> bool:
        """Return whether no joint node has the call's name, so that it must have become others."""
        return not any(_becomes(call, op) for op in self.ops)

    def is_ready(self, call: GraphNode) -> bool:
        """Return whether the calls that it reads have joint nodes, which come before its own."""
        names = {one.name for one in self.calls}
        return all(name in self.given for name in call.inputs if name in names)


def _chosen(node: GraphNode, alike: int, choice: _Choice) -> GraphNode | None:
    """Return the Dynamo node of a joint node: one on its line, and of its op if one may be.

    A call that has no joint node of its own name was decomposed: it takes nodes of any op, but for as many as the calls of
    that op need themselves. `alike` counts the joint nodes of this one's line and op from it on.
    """
    choice = choice.on_line(node)
    named = [one for one in choice.calls if _becomes(one, op_of(node))]
    decomposed = [one for one in choice.calls if choice.is_decomposed(one)]
    if named:
        decomposed = [one for one in decomposed if choice.is_ready(one)]
    if named and (not decomposed or alike <= len(named)):
        return named[0]
    return next(iter(decomposed or named or choice.calls), None)


def _kind(node: GraphNode) -> tuple[object, str]:
    return _line(node), op_of(node)


def _line(node: GraphNode) -> tuple[str, int] | None:
    return (node.source.file, node.source.line) if node.source is not None else None


def _becomes(call: GraphNode, op: str) -> bool:
    name = call_name(call)
    return op in _BECOMES.get(name, ()) or op.strip("_") == name.strip("_")


def call_name(call: GraphNode) -> str:
    """Return what a Dynamo node calls, without module: `torch._C._nn.gelu` gives `gelu`."""
    return call.target.rpartition(".")[2]
