"""What a wrapper's calls compute, where nobody says it. In: the calls as written, the post-grad graph. Out: nodes of each.

A library call does the next node of its op whose inputs it reads. A generated kernel does what lies between the library
calls that it stands between, as far as its name lists the op; a node runs where its result is used, as Inductor fuses it.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from compdiff.compile_log import call_kind, same_op
from compdiff.kernels import read_kernel_name
from compdiff.model import GraphNode, WrapperCall

VIEW_TARGETS = frozenset(
    {
        "_operator.getitem",
        "aten._reshape_alias.default",
        "aten._unsafe_view.default",
        "aten.alias.default",
        "aten.as_strided.default",
        "aten.detach.default",
        "aten.expand.default",
        "aten.permute.default",
        "aten.reshape.default",
        "aten.select.int",
        "aten.slice.Tensor",
        "aten.squeeze.default",
        "aten.squeeze.dim",
        "aten.squeeze.dims",
        "aten.t.default",
        "aten.transpose.int",
        "aten.unsqueeze.default",
        "aten.view.default",
    }
)


@dataclass(frozen=True)
class Written:
    """One call as it stands in the wrapper: `handle` is unique, `reads` and `writes` are names in its line."""

    name: str
    handle: str
    sources: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()

    @property
    def is_generated(self) -> bool:
        """Whether Inductor wrote the kernel."""
        return call_kind(self.name) != "extern"


@dataclass
class _Flow:
    """A post-grad graph with its users, and the call that each node is known to run in."""

    nodes: Mapping[str, GraphNode]
    users: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    place: dict[str, int] = field(default_factory=dict)

    def sources(self, name: str) -> set[str]:
        """Return the nodes and inputs that a node reads, looking through views."""
        found: set[str] = set()
        pending = list(self.nodes[name].inputs)
        while pending:
            node = self.nodes[pending.pop()]
            found.add(node.name)
            if node.target in VIEW_TARGETS:
                pending += node.inputs
        return found

    def earliest(self, name: str) -> int:
        """Return the place of the last call that a node needs, over whatever lies between them."""
        found, seen, pending = 0, {name}, [name]
        while pending:
            for source in self.sources(pending.pop()) - seen:
                seen.add(source)
                if source in self.place:
                    found = max(found, self.place[source])
                else:
                    pending.append(source)
        return found

    def consumers(self, name: str) -> set[str]:
        """Return the nodes that read a node, looking through views."""
        found: set[str] = set()
        pending = list(self.users[name])
        while pending:
            node = self.nodes[pending.pop()]
            if node.target in VIEW_TARGETS:
                pending += self.users[node.name]
            else:
                found.add(node.name)
        return found


def nodes_by_data_flow(
    written: Sequence[Written], known: Mapping[str, tuple[str, ...]], post_grad: Sequence[GraphNode]
) -> dict[str, tuple[str, ...]]:
    """Return the nodes of the calls that `known` has none for, by handle."""
    flow = _Flow({node.name: node for node in post_grad})
    for node in post_grad:
        for name in node.inputs:
            flow.users[name].append(node.name)
    for number, call in enumerate(written):
        for name in known[call.handle]:
            flow.place.setdefault(name, number)
    _place_library_calls(flow, written, known)
    free = [number for number, call in enumerate(written) if _is_free(call, known)]
    if free:
        _place_by_consumers(flow, free)
        _place_results(flow, written, free)
        _place_by_consumers(flow, free)
    found: dict[str, list[str]] = defaultdict(list)
    for node in post_grad:
        placed = flow.place.get(node.name)
        if placed is not None and not known[written[placed].handle]:
            found[written[placed].handle].append(node.name)
    _lend(written, known, found)
    return {handle: tuple(names) for handle, names in found.items()}


def _lend(
    written: Sequence[Written],
    known: Mapping[str, tuple[str, ...]],
    found: dict[str, list[str]],
) -> None:
    """Let a kernel that no node was found for share those of one whose name lists ops of it: they do one thing in parts."""
    lenders = [call for call in written if call.is_generated and found.get(call.handle)]
    for call in written:
        if not _is_free(call, known) or found.get(call.handle):
            continue
        alike = [one for one in lenders if _fused(call) & _fused(one)]
        lender = max(alike, key=lambda one: len(_fused(call) & _fused(one)), default=None)
        if lender is not None:
            found[call.handle] = list(found[lender.handle])


def _is_free(call: Written, known: Mapping[str, tuple[str, ...]]) -> bool:
    return call.is_generated and not known[call.handle]


def _place_library_calls(
    flow: _Flow, written: Sequence[Written], known: Mapping[str, tuple[str, ...]]
) -> None:
    """Give each library call the node of its op that reads most of what the call reads; of equals the first."""
    buffers: dict[str, str] = {}
    for number, call in enumerate(written):
        if call.is_generated or known[call.handle]:
            continue
        reads = {buffers.get(name, name) for name in call.reads}
        candidates = [
            node.name
            for node in flow.nodes.values()
            if node.op == "call_function" and node.name not in flow.place and does(call, node)
        ]
        if not candidates:
            continue
        chosen = max(candidates, key=lambda name: len(flow.sources(name) & reads))
        flow.place[chosen] = number
        buffers |= dict.fromkeys(call.writes, chosen)


def does(call: Written, node: GraphNode) -> bool:
    """Return whether a library call does a node's op."""
    op = node.target.rpartition(".")[0] or node.target
    wrapper = WrapperCall(index=0, name=call.name, kind="extern")
    return same_op(wrapper, op.replace(".", "::"))


def _place_by_consumers(flow: _Flow, free: Sequence[int]) -> None:
    """Let each node run in the kernel that first uses its result, or in the last one before the call that does."""
    for node in reversed(list(flow.nodes.values())):
        if not _is_computed(node) or node.name in flow.place:
            continue
        uses = [flow.place[name] for name in flow.consumers(node.name) if name in flow.place]
        if not uses:
            continue
        before = [number for number in free if number <= min(uses)]
        if before:
            flow.place[node.name] = before[-1]


def _place_results(flow: _Flow, written: Sequence[Written], free: Sequence[int]) -> None:
    """Let what only outputs use run in the first kernel after its inputs whose name lists its op, or else in the first."""
    for node in flow.nodes.values():
        if not _is_computed(node) or node.name in flow.place:
            continue
        if flow.consumers(node.name) - {"output"}:
            continue
        earliest = flow.earliest(node.name)
        after = [number for number in free if number >= earliest] or list(free[-1:])
        named = [number for number in after if _op(node) in _fused(written[number])]
        flow.place[node.name] = (named or after)[0]


def _is_computed(node: GraphNode) -> bool:
    return node.op == "call_function" and node.target not in VIEW_TARGETS


def _op(node: GraphNode) -> str:
    return node.target.partition(".")[2].partition(".")[0]


def _fused(call: Written) -> frozenset[str]:
    return frozenset(read_kernel_name(call.name).fused)
