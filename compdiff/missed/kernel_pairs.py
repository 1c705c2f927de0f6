"""Kernels that feed kernels. In: a Site. Out: pairs of which the second reads what the first stores, with those tensors."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

from compdiff.align.liveness import is_view
from compdiff.missed.graph_view import GraphView, op_of
from compdiff.missed.place import Cost, GraphPlace, Site
from compdiff.missed.views import post_grad_views
from compdiff.model import GENERATED, Kernel, OpCall
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
    """Two kernels of one graph: the second reads `tensors`, nodes whose values the first stores."""

    first: KernelCall
    second: KernelCall
    tensors: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """All nodes of both that compute, in graph order."""
        both = self.first.nodes | self.second.nodes
        return tuple(name for name in self.view.nodes if name in both)

    @property
    def right(self) -> tuple[str, ...]:
        """The two kernels."""
        return (self.first.item, self.second.item)

    @cached_property
    def quote(self) -> str:
        """Why the scheduler did not fuse the two, in its own words; "" where it did not say."""
        said = (
            refusal.reason
            for refusal in self.view.compiled.refusals
            if (refusal.first, refusal.second) == (self.first.index, self.second.index)
        )
        return next(said, "")

    @property
    def first_text(self) -> str:
        """What the first kernel computes."""
        return self._ops(self.first)

    @property
    def second_text(self) -> str:
        """What the second kernel computes beside what the first computes too."""
        return self._ops(self.second)

    def _ops(self, call: KernelCall) -> str:
        other = self.first if call is self.second else self.second
        own = [name for name in self.view.nodes if name in call.nodes]
        alone = [name for name in own if name not in other.nodes] or own
        ops = dict.fromkeys(self._op(name) for name in alone if not self.view.is_view(name))
        shown = list(ops)[:_MOST_OPS]
        return ", ".join(shown) + (" …" if len(ops) > len(shown) else "") or call.name

    def _op(self, name: str) -> str:
        """Return the op that the user's code called, as far as the node knows it."""
        node = self.view.nodes[name]
        parts = node.original_aten.split(".")
        return f"{parts[0]}::{parts[1]}" if len(parts) > 1 else op_of(node)

    @property
    def tensors_text(self) -> str:
        """The tensors between the two, with their shapes."""
        return ", ".join(f"{name} {self.view.shape(name)}" for name in self.tensors[:_MOST_OPS])

    @property
    def reduced(self) -> str:
        """What the first kernel reduces, and to what; "" where it does not reduce."""
        return self._reduction(self.first)

    @property
    def reduced_second(self) -> str:
        """What the second kernel reduces, and to what; "" where it does not reduce."""
        return self._reduction(self.second)

    def _reduction(self, call: KernelCall) -> str:
        for node in self.view.graph.nodes:
            if node.name in call.nodes and node.target in _REDUCING and node.inputs:
                made = f" to {shape_text(node.outputs[0])}" if node.outputs else ""
                return f"{self.view.shape(node.inputs[0])}{made}"
        return ""

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
        nodes = (self.view.nodes[name] for name in self.names)
        return tuple(dict.fromkeys(meta.device for node in nodes for meta in node.outputs))

    @property
    def cost(self) -> Cost:
        """One launch, and each tensor between the two: read again, and written if nothing else reads it."""
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
        calls = kernel_calls(site, view)
        for second in calls:
            between: dict[int, list[str]] = {}
            for name in read_from_others(view, second.nodes):
                homes = [call.index for call in calls if name in call.nodes]
                before = [index for index in homes if index < second.index]
                if before:
                    between.setdefault(before[-1], []).append(name)
            by_index = {call.index: call for call in calls}
            for index, tensors in sorted(between.items()):
                yield KernelPair(site, view, by_index[index], second, tuple(tensors))


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
