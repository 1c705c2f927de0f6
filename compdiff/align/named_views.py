"""Matches views with the kernels that read through them. In: traces with items, kernels' names. Out: views with items.

A view is not made as a tensor: the kernel that computes on it reads memory with other strides, and is named after it too.
Where a library call computes on it, a kernel before that call, named after both, may write the view out.
"""

from collections.abc import Sequence
from math import prod

from compdiff.align.guesses import NamedKernel, RightSide, computes, give, is_free
from compdiff.align.op_names import is_view_name, traced_name
from compdiff.align.traces import OpTrace, hands_over_a_gradient

_BY_CONSUMER = "the kernel of the computation after it is named after the view too"
# Views that have other elements than their input, or more.
_RESIZING = frozenset(
    {"as_strided", "diagonal", "expand", "narrow", "real", "select", "slice", "split", "split_with_sizes", "unbind",
     "unfold"}
)  # fmt: skip
# AOTAutograd traces the view of a matmul's result as any other view.
_VIEW_NAMES = {"_unsafe_view": frozenset({"_unsafe_view", "view"})}


def match_named_views(traces: Sequence[OpTrace], side: RightSide) -> None:
    """Give each view the kernels that are named after it and do the computation after it, or write its result out."""
    kernels = {kernel.item: kernel for kernel in side.kernels}
    waiting: list[OpTrace] = []
    for trace in traces:
        if hands_over_a_gradient(trace.call):
            # The views before it are the form of a gradient.
            waiting = []
        elif is_free(trace) and is_view_name(trace.call.name):
            waiting.append(trace)
        elif computes(trace):
            # Where a library call does the work, or the first part of it, only a kernel before that call reads the view.
            end = min(
                (side.places[one] for one in trace.items if one not in kernels), default=1 << 62
            )
            readers = [
                kernels[one] for one in trace.items if one in kernels and kernels[one].place < end
            ]
            if trace.kept is not None and trace.kept in side.places:
                place = side.places[trace.kept]
                readers += side.preparing(place, traced_name(trace.call.name))
            for view in waiting:
                if _may_read(trace, view):
                    _give_readers(view, readers)
            waiting = []


def _may_read(reader: OpTrace, view: OpTrace) -> bool:
    """Return whether a call has an input of as many elements as a view that keeps all of them, or nobody knows."""
    if traced_name(view.call.name) in _RESIZING or not view.call.inputs or not reader.call.inputs:
        return True
    sizes = {prod(meta.shape) for meta in reader.call.inputs}
    return prod(view.call.inputs[0].shape) in sizes


def _give_readers(view: OpTrace, readers: Sequence[NamedKernel]) -> None:
    name = traced_name(view.call.name)
    names = _VIEW_NAMES.get(name, frozenset({name}))
    for kernel in readers:
        if names & kernel.ops:
            give(view, kernel.item, _BY_CONSUMER)
