"""Kernels that feed kernels. In: a Site. Out: pairs of which the second reads what the first stores, with those tensors."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from compdiff.align.liveness import is_view
from compdiff.missed.graph_view import GraphView, op_of
from compdiff.missed.place import NO_COST, Cost, GraphPlace, Site
from compdiff.missed.views import post_grad_views
from compdiff.model import GENERATED, Kernel, OpCall, Refusal
from compdiff.rewrites.engine import reduces
from compdiff.rewrites.rules import REDUCTION_TARGETS
from compdiff.tensor_text import shape_text, size_bytes

_MOST_OPS = 4
_REDUCING = REDUCTION_TARGETS | {"prims.prepare_softmax_online.default"}


@dataclass(frozen=True)
class KernelCall:
    """One call of a graph's wrapper with the first right item that it made, and the post-grad nodes it computes."""

    item: str
    name: str
    index: int
    nodes: frozenset[str]
    is_generated: bool


def kernel_calls(site: Site, view: GraphView) -> list[KernelCall]:
    """Return the calls of a graph's wrapper that compute nodes, in order; those that only copy an input are left out."""
    facts = site.facts
    found: dict[int, KernelCall] = {}
    for item, refs in facts.alignment.item_nodes.items():
        made = facts.items[item]
        nodes = frozenset(ref.name for ref in refs) & frozenset(view.nodes)
        if made.graph != view.compiled.id or made.call is None or item in facts.alignment.prepares:
            continue
        if nodes and made.call not in found:
            found[made.call] = KernelCall(item, made.name, made.call, nodes, _is_generated(made))
    return [found[index] for index in sorted(found)]


def _is_generated(made: OpCall | Kernel) -> bool:
    return isinstance(made, Kernel) and made.kind in GENERATED


def only_work_of(site: Site, view: GraphView, names: Collection[str]) -> bool:
    """Return whether one generated kernel computes these nodes and no other one that computes."""
    wanted = {name for name in names if not view.is_view(name)}
    for call in kernel_calls(site, view):
        computing = {name for name in call.nodes if not view.is_view(name)}
        if call.is_generated and wanted & computing:
            return computing <= wanted
    return False


@dataclass(frozen=True)
class KernelPair(GraphPlace):
    """Two kernels of one graph: the second reads `tensors`, nodes whose values the first stores.

    `said` is why the scheduler did not fuse the two, None where it did not say; `between` is a call that needs the first and
    that the second needs, None where there is none.
    """

    first: KernelCall
    second: KernelCall
    tensors: tuple[str, ...]
    said: Refusal | None
    between: KernelCall | None

    @property
    def names(self) -> tuple[str, ...]:
        """The tensors between, the nodes of the second kernel that take them, through views, and its last node."""
        if not self.tensors:
            both = self.first.nodes | self.second.nodes
            return tuple(name for name in self.view.nodes if name in both)
        last = [name for name in self.view.nodes if name in self.second.nodes][-1:]
        found = dict.fromkeys((*self.tensors, *last))
        pending = list(self.tensors)
        while pending:
            for user in self.view.users[pending.pop()]:
                if self.view.is_view(user) and user not in found:
                    pending.append(user)
                if self.view.is_view(user) or user in self.second.nodes:
                    found[user] = None
        return tuple(name for name in self.view.nodes if name in found)

    @property
    def right(self) -> tuple[str, ...]:
        """The two kernels."""
        return (self.first.item, self.second.item)

    @property
    def quote(self) -> str:
        """What the scheduler said, unless another kernel lies between: that is what keeps the two apart then."""
        return "" if self.between or self.said is None else self.said.reason

    def _op(self, name: str) -> str:
        """Return the op call whose work a node does, or the node's own op."""
        facts, frame = self.site.facts, self.view.compiled.compile_id
        origins = {(frame, origin) for origin in self.view.joint_origins(facts, name)}
        owners = facts.with_joint_node(origins)
        return owners[0].call.name if owners else op_of(self.view.nodes[name])

    @property
    def tensors_text(self) -> str:
        """The tensors between the two, with their shapes."""
        texts = []
        for name in self.tensors:
            shapes = dict.fromkeys(shape_text(meta) for meta in self.view.nodes[name].outputs)
            texts.append(f"{self._op(name)} {' and '.join(shapes)}".rstrip())
        return ", ".join(list(dict.fromkeys(texts))[:_MOST_OPS])

    @property
    def reduced(self) -> str:
        """What the first kernel reduces, and to what; "" where it does not reduce."""
        return self._reduction(self.first)

    @property
    def reduced_second(self) -> str:
        """What the second kernel reduces, and to what; "" where it does not reduce."""
        return self._reduction(self.second)

    def _reduction(self, call: KernelCall) -> str:
        """Return what a kernel reduces last: its nodes may name reductions before it, whose results it only reads."""
        if not reduces(self.site.facts, call.item):
            return ""
        reducing = (node for node in self.view.graph.nodes if node.target in _REDUCING)
        last = [node for node in reducing if node.name in call.nodes and node.inputs][-1:]
        made = [shape_text(node.outputs[0]) for node in last if node.outputs]
        return " to ".join([*(self.view.shape(node.inputs[0]) for node in last), *made])

    @property
    def reductions(self) -> str:
        """What the one that reduces reduces."""
        return self.reduced or self.reduced_second

    @property
    def other_shape(self) -> str:
        """Dtype and shape of what the kernel without a reduction makes last."""
        call = self.second if self.reduced else self.first
        made = [name for name in self.view.nodes if name in call.nodes]
        return self.view.shape(made[-1])

    @property
    def is_of_several_op_calls(self) -> bool:
        """Return whether the second does the work of an op call that the first does nothing of: not two parts of one op."""
        owners = self.site.facts.owners
        first, second = (
            {it.id for it in owners.get(item, ()) if not is_view(it.call)} for item in self.right
        )
        return bool(first) and bool(second - first)

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices of what both give."""
        both = self.first.nodes | self.second.nodes
        nodes = (node for node in self.view.graph.nodes if node.name in both)
        return tuple(dict.fromkeys(meta.device for node in nodes for meta in node.outputs))

    @property
    def cost(self) -> Cost:
        """One launch, and each tensor between the two: read again, and written if nothing else reads it.

        Nothing where another kernel lies between the two: its own pairs tell what that costs.
        """
        if self.between:
            return NO_COST
        moved = 0
        for name in self.tensors:
            users = [user for user in self.view.users[name] if user not in self.first.nodes]
            alone = all(user in self.second.nodes for user in users)
            size = sum(size_bytes(meta) for meta in self.view.nodes[name].outputs)
            moved += size * (1 + alone)
        return Cost(1, moved)


def kernel_pairs(site: Site) -> Iterator[KernelPair]:
    """Yield each pair of kernels that follow each other in the data, in the order of the second."""
    for view in post_grad_views(site):
        calls = {call.index: call for call in kernel_calls(site, view)}
        flow = _flow(view, calls)
        said = {(it.first, it.second): it for it in view.compiled.refusals or ()}
        for (first, second), tensors in sorted(flow.items(), key=lambda edge: edge[0][::-1]):
            between = next(
                (calls[it] for it in calls if _lies_between(flow, first, it, second)), None
            )
            reason = said.get((first, second))
            yield KernelPair(site, view, calls[first], calls[second], tensors, reason, between)


_Flow: TypeAlias = dict[tuple[int, int], tuple[str, ...]]


def _flow(view: GraphView, calls: Mapping[int, KernelCall]) -> _Flow:
    """Return the tensors that flow from call to call, by their indices.

    What the scheduler said of two generated kernels is exact. The nodes of a generated kernel are not: they may name more
    than it computes. They stand in where the scheduler's words were not recorded, and tell of library calls.
    """
    told = view.compiled.refusals
    flow: _Flow = {}
    for second in _first_of_each_split(calls.values()):
        for name in read_from_others(view, second.nodes):
            homes = [it.index for it in calls.values() if name in it.nodes]
            before = [index for index in homes if index < second.index][-1:]
            for first in before:
                if told is None or not (calls[first].is_generated and second.is_generated):
                    flow[first, second.index] = (*flow.get((first, second.index), ()), name)
    for refusal in told or ():
        if refusal.first in calls and refusal.second in calls:
            known = tuple(name for name in refusal.tensors if name in view.nodes)
            flow[refusal.first, refusal.second] = known
    return flow


def _lies_between(flow: _Flow, first: int, middle: int, second: int) -> bool:
    """Return whether a call needs the first of two and the second needs it, over others too."""
    return (
        middle not in {first, second}
        and _reaches(flow, first, middle)
        and _reaches(flow, middle, second)
    )


def _reaches(flow: _Flow, start: int, end: int) -> bool:
    seen, pending = {start}, [start]
    while pending:
        current = pending.pop()
        after = {it for before, it in flow if before == current} - seen
        seen |= after
        pending.extend(after)
    return end in seen


def _first_of_each_split(calls: Iterable[KernelCall]) -> Iterator[KernelCall]:
    """Yield the calls but those that finish a reduction which the call before began: these read its parts alone."""
    seen: set[frozenset[str]] = set()
    for call in calls:
        if call.nodes not in seen:
            yield call
        seen.add(call.nodes)


def read_from_others(view: GraphView, nodes: Collection[str]) -> list[str]:
    """Return the nodes whose values a kernel reads and does not compute, seen through views, in graph order."""
    found: dict[str, None] = {}
    pending = [name for node in nodes for name in view.nodes[node].inputs if name not in nodes]
    while pending:
        name = pending.pop()
        if view.is_view(name) and view.nodes[name].op == "call_function":
            pending += [it for it in view.nodes[name].inputs if it not in nodes]
        elif view.nodes[name].op == "call_function":
            found[name] = None
    return [name for name in view.nodes if name in found]
