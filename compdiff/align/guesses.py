"""What guessing by names needs to know of both sides. In: an Alignment. Out: places, phases and names of right items.

Nothing is known of right items but what a trace holds: an order, names, and the phase of op calls.
"""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from compdiff.align.anchors import Anchors
from compdiff.align.graph_replay import ON_THE_HOST, REPLAYED
from compdiff.align.items import in_order, right_kernel, right_op
from compdiff.align.op_names import SAME_OP, is_view_name
from compdiff.align.traces import ALLOCATIONS, Alignment, OpTrace, hands_over_a_gradient
from compdiff.kernels import read_kernel_name
from compdiff.model import GENERATED, Kernel, OpCall, Phase

# A compiled function without a compiler's account of it: op calls in it have this compile id.
UNKNOWN_GRAPH = ""
_TEMPLATES = frozenset({"attention", "conv", "gemm"})
# Inductor numbers the kernels of a graph from 0: two kernels with one number are of two graphs.
_NUMBER = re.compile(r"_(\d+)$")


@dataclass(frozen=True)
class NamedKernel:
    """A generated kernel: its place in the right order, the pass it runs in, the ops it is named after, in one spelling."""

    item: str
    place: int
    phase: Phase
    ops: frozenset[str]
    template: bool


@dataclass(frozen=True)
class RightSide:
    """The right items in order: the place of each, the op calls with their places, the generated kernels."""

    places: dict[str, int]
    calls: tuple[tuple[int, OpCall], ...]
    kernels: tuple[NamedKernel, ...]

    def preparing(self, place: int, op: str) -> Iterator[NamedKernel]:
        """Yield the kernels right before a place that are named after an op: they write its inputs out."""
        at = bisect_left(self.kernels, place, key=lambda kernel: kernel.place)
        for kernel in reversed(self.kernels[:at]):
            place -= 1
            if kernel.place != place:
                return
            if op in kernel.ops:
                yield kernel

    def named_after(self, place: int) -> frozenset[str]:
        """Return the ops of the generated kernels between a place and the next op call."""
        at = bisect_right(self.calls, place, key=lambda entry: entry[0])
        end = self.calls[at][0] if at < len(self.calls) else len(self.places)
        first = bisect_right(self.kernels, place, key=lambda kernel: kernel.place)
        last = bisect_right(self.kernels, end, key=lambda kernel: kernel.place)
        return frozenset(op for kernel in self.kernels[first:last] for op in kernel.ops)


def right_side(result: Alignment) -> RightSide:
    """Return what a trace tells of the right side."""
    op_calls = {call.id: call for call in result.right.op_calls}
    kernels = {kernel.id: kernel for kernel in result.right.kernels}
    order = [
        op_calls[int(place[1:])] if place.startswith("o") else kernels[int(place[1:])]
        for place in result.right.call_order
    ]
    places = {
        right_op(made.id) if isinstance(made, OpCall) else right_kernel(made.id): place
        for place, made in enumerate(order)
    }
    calls = tuple((place, made) for place, made in enumerate(order) if isinstance(made, OpCall))
    replayed = {item for trace in result.traces if trace.by == REPLAYED for item in trace.items}
    replayed.update(result.replays)
    free = (kernel for kernel in _named_kernels(order) if kernel.item not in replayed)
    return RightSide(places, calls, tuple(free))


def _named_kernels(order: list[OpCall | Kernel]) -> Iterator[NamedKernel]:
    """Yield the generated kernels with their phases: those of the op calls around them, where both are of one phase.

    Where the phase changes between two op calls, the kernels of the later graph begin with the first one that has the number
    of another kernel before it, or is named after a backward op.
    """
    before: Phase = "forward"
    numbered: dict[int, str] = {}
    gap: list[tuple[int, Kernel]] = []
    for place, made in enumerate(order):
        if isinstance(made, Kernel):
            if made.kind in GENERATED:
                gap.append((place, made))
        elif not is_view_name(made.name):
            yield from _of_gap(gap, before, made.phase, numbered)
            before, gap = made.phase, []
    names_backward = any("_backward" in kernel.name for _, kernel in gap)
    yield from _of_gap(gap, before, "backward" if names_backward else before, numbered)


def _of_gap(
    gap: list[tuple[int, Kernel]], before: Phase, after: Phase, numbered: dict[int, str]
) -> Iterator[NamedKernel]:
    """Yield the kernels between two op calls; `numbered` has those of the graph so far by number, and is kept up to date."""
    phase = before
    for place, kernel in gap:
        found = _NUMBER.search(kernel.name)
        number = int(found[1]) if found else -1
        again = numbered.get(number, kernel.name) != kernel.name
        if again or (phase != after and after == "backward" and "_backward" in kernel.name):
            numbered.clear()
            phase = after
        numbered[number] = kernel.name
        name = read_kernel_name(kernel.name)
        ops = frozenset(SAME_OP.get(op, op) for op in name.fused)
        template = name.computes in _TEMPLATES
        yield NamedKernel(right_kernel(kernel.id), place, phase, ops, template)


# ---------------------------------------------------------------- the left side


def computes(trace: OpTrace) -> bool:
    """Return whether a call does work that a right item can do: no view, no allocation, no handing over of a gradient."""
    name = trace.call.name
    return not (is_view_name(name) or name in ALLOCATIONS or hands_over_a_gradient(trace.call))


def is_free(trace: OpTrace) -> bool:
    """Return whether nothing is known to do the call's work."""
    return trace.kept is None and not trace.items and trace.by != ON_THE_HOST


def give(trace: OpTrace, item: str, by: str) -> None:
    """Let a right item do work of the call, as a guess."""
    trace.items = in_order((*trace.items, item))
    trace.certainty, trace.by, trace.compile_id = "guess", trace.by or by, UNKNOWN_GRAPH


def by_item(traces: Iterable[OpTrace]) -> dict[str, list[OpTrace]]:
    """Return, for each right item, the calls whose work it does, in left order."""
    found: dict[str, list[OpTrace]] = defaultdict(list)
    for trace in traces:
        for item in trace.items:
            found[item].append(trace)
    return found


def anchors_of(result: Alignment, side: RightSide) -> Anchors:
    """Return what is known by now, as far as the order of both sides agrees on it."""
    return Anchors(
        (trace.call.id, side.places[item])
        for trace in result.traces
        if computes(trace)
        for item in (*trace.items, *([trace.kept] if trace.kept else []))
        if item in side.places
    )
