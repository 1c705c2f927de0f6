"""Matches views with the kernels that read through them. In: traces with items, kernels' names. Out: views with items.

A view is not made as a tensor: the kernel that computes on it reads the memory with other strides, and is named after it too.
Where a library call computes on it, a kernel before that call, named after both, may write the view out.
"""

from collections.abc import Iterator, Sequence

from compdiff.align.guesses import NamedKernel, RightSide, computes, give, is_free
from compdiff.align.op_names import is_view_name, traced_name
from compdiff.align.traces import OpTrace

_BY_CONSUMER = "the kernel of the computation after it is named after the view too"
# AOTAutograd traces the view of a matmul's result as any other view.
_VIEW_NAMES = {"_unsafe_view": frozenset({"_unsafe_view", "view"})}


def match_named_views(traces: Sequence[OpTrace], side: RightSide) -> None:
    """Give each view the kernels that are named after it and do the computation after it, or write its result out."""
    kernels = {kernel.item: kernel for kernel in side.kernels}
    by_place = {kernel.place: kernel for kernel in side.kernels}
    waiting: list[OpTrace] = []
    for trace in traces:
        if is_free(trace) and is_view_name(trace.call.name):
            waiting.append(trace)
        elif computes(trace):
            readers = [kernels[item] for item in trace.items if item in kernels]
            readers += _preparing(trace, side, by_place)
            for view in waiting:
                _give_readers(view, readers)
            waiting = []
        else:
            # A gradient is handed over: the views before it are its form.
            waiting = []


def _give_readers(view: OpTrace, readers: Sequence[NamedKernel]) -> None:
    name = traced_name(view.call.name)
    names = _VIEW_NAMES.get(name, frozenset({name}))
    for kernel in readers:
        if names & kernel.ops:
            give(view, kernel.item, _BY_CONSUMER)


def _preparing(
    trace: OpTrace, side: RightSide, by_place: dict[int, NamedKernel]
) -> Iterator[NamedKernel]:
    """Yield the kernels right before the library call that does a call's work, if they are named after it."""
    name = traced_name(trace.call.name)
    for item in (trace.kept,) if trace.kept else ():
        place = side.places.get(item, 0) - 1
        while place in by_place:
            if name in by_place[place].ops:
                yield by_place[place]
            place -= 1
