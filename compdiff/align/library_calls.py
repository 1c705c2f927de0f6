"""Matches library calls that stand for several ops. In: traces, right op calls without a partner. Out: traces with items.

Which ops such a call stands for is a table (`op_names.py`): they follow each other on the left, between the neighbours of
the call.
"""

from collections.abc import Iterable, Iterator, Sequence
from math import prod

from compdiff.align.anchors import Anchors
from compdiff.align.guesses import RightSide, anchors_of, by_item, computes, give, is_free
from compdiff.align.items import right_op
from compdiff.align.op_names import (
    FALLBACKS,
    FOLDED_INTO,
    LIBRARY_CALLS,
    LibraryCall,
    functional_name,
    is_view_name,
    traced_name,
)
from compdiff.align.traces import Alignment, OpTrace
from compdiff.model import OpCall

# What gives a matrix product its form, and the view that comes before them where the second factor is transposed.
_SHAPING = frozenset({"clone", "expand", "reshape", "view", "_unsafe_view"})
_TRANSPOSING = frozenset({"permute", "t", "transpose"})
# How matmul gives the result of a batched product its form.
_RESULT_VIEW = "aten::_unsafe_view"
# An addition and an activation.
_MOST_AFTER = 2


def match_library_calls(result: Alignment, side: RightSide) -> None:
    """Give the left op calls that became one library call this call, first with first."""
    matched = {trace.kept for trace in result.traces}
    rows: dict[str, list[LibraryCall]] = {}
    for row in LIBRARY_CALLS:
        rows.setdefault(row.name, []).append(row)
    waiting = [
        (place, call)
        for place, call in side.calls
        if call.name in rows and right_op(call.id) not in matched
    ]
    if not waiting:
        return
    anchors = anchors_of(result, side)
    positions = {trace.call.id: index for index, trace in enumerate(result.traces)}
    begin: dict[tuple[str, str], int] = {}
    for place, call in waiting:
        first, last = _window(anchors, positions, place, len(result.traces))
        # Calls of one name come in order: what lies before the last one found, or was searched in vain, is done with.
        key = (call.name, call.phase)
        part = result.traces[max(first, begin.get(key, 0)) : last]
        taken = _first_fit(rows[call.name], call, part, side.named_after(place))
        for trace in taken:
            give(trace, right_op(call.id), f"the pattern that becomes {call.name}, in order")
            for kernel in side.preparing(place, functional_name(call.name)):
                give(trace, kernel.item, "")
        begin[key] = positions[taken[-1].call.id] + 1 if taken else last


def _window(anchors: Anchors, positions: dict[int, int], place: int, count: int) -> tuple[int, int]:
    """Return the part of the traces between the neighbours of a right place."""
    first, last = anchors.span(place)
    return positions.get(first, -1) + 1, positions.get(last, count)


def _first_fit(
    rows: Sequence[LibraryCall], call: OpCall, part: Sequence[OpTrace], later: frozenset[str]
) -> list[OpTrace]:
    """Return the op calls of the first row that fits; nothing folds that a kernel after the call is named after."""
    traces = [trace for trace in part if trace.call.phase == call.phase]
    for row in rows:
        if not later & set(row.needs) & set(FOLDED_INTO):
            taken = _fit(row, call, traces, later)
            if taken:
                return taken
    return []


def _fit(
    row: LibraryCall, call: OpCall, traces: Sequence[OpTrace], later: frozenset[str]
) -> list[OpTrace]:
    """Return the first run of free op calls that holds all that a row needs, with what else runs in its call."""
    taken: list[OpTrace] = []
    step = 0
    for index, trace in enumerate(traces):
        if not computes(trace) or not is_free(trace):
            continue
        name = traced_name(trace.call.name)
        between = step and name in row.between
        if name != row.needs[step] and not between:
            taken, step = [], 0
        if name == row.needs[step]:
            if not step and not _same_size(trace.call, call):
                continue
            taken, step = [*taken, trace], step + 1
        elif between:
            taken = [*taken, trace]
        if step == len(row.needs):
            views = list(_views(traces, taken)) if row.whole else []
            return [*views, *taken, *_after(row, traces[index + 1 :], later)]
    return []


def _same_size(first: OpCall, call: OpCall) -> bool:
    """Return whether a factor of a product is an input of the library call too, in whatever view, or nobody knows."""
    if not first.inputs or not call.inputs:
        return True
    sizes = {prod(meta.shape) for meta in call.inputs}
    return any(prod(meta.shape) in sizes for meta in first.inputs[:2])


def _after(row: LibraryCall, traces: Sequence[OpTrace], later: frozenset[str]) -> Iterator[OpTrace]:
    """Yield the op calls right after that may run in the library call, unless a kernel after it is named after them."""
    names = row.after - later
    found = 0
    for trace in traces if names else ():
        if not computes(trace):
            continue
        if found == _MOST_AFTER or not is_free(trace) or traced_name(trace.call.name) not in names:
            return
        found += 1
        yield trace


def _views(traces: Sequence[OpTrace], taken: Sequence[OpTrace]) -> Iterator[OpTrace]:
    """Yield the views between the op calls of a pattern, and those that give its factors and result their form."""
    start = next(index for index, trace in enumerate(traces) if trace is taken[0])
    stop = next(index for index, trace in enumerate(traces) if trace is taken[-1])
    yield from (one for one in traces[start:stop] if is_view_name(one.call.name) and is_free(one))
    yield from (one for one in traces[stop + 1 : stop + 2] if one.call.name == _RESULT_VIEW)
    for trace in reversed(traces[:start]):
        base = trace.call.name.rpartition("::")[2]
        if not is_free(trace) or base not in _SHAPING | _TRANSPOSING:
            return
        yield trace
        if base in _TRANSPOSING:
            return


# ---------------------------------------------------------------- parts of other calls


def match_folded(result: Alignment, named: Iterable[str]) -> None:
    """Give an op call that no kernel is named after, and whose constants can be folded, the items of the call before it."""
    in_kernels = frozenset(named)
    before: OpTrace | None = None
    for trace in result.traces:
        if not computes(trace):
            continue
        hosts = FOLDED_INTO.get(traced_name(trace.call.name), frozenset())
        foldable = hosts and is_free(trace) and traced_name(trace.call.name) not in in_kernels
        if foldable and before is not None and traced_name(before.call.name) in hosts:
            for item in (*before.items, *([before.kept] if before.kept else [])):
                give(trace, item, "the call before it, whose weights can take its constants")
        before = trace


def match_fallbacks(result: Alignment, side: RightSide) -> None:
    """Give an op call that kernels on both sides of a library call are named after that call too, where a row allows it."""
    owners = by_item(result.traces)
    matched = {trace.kept for trace in result.traces}
    for place, call in side.calls:
        ops = FALLBACKS.get(call.name, frozenset())
        item = right_op(call.id)
        if not ops or item in matched or item in owners:
            continue
        around = [_owners_at(side, owners, place, step) for step in (-1, 1)]
        for trace in around[0]:
            if trace in around[1] and traced_name(trace.call.name) in ops:
                give(trace, item, f"the kernels before and after {call.name}")


def _owners_at(
    side: RightSide, owners: dict[str, list[OpTrace]], place: int, step: int
) -> list[OpTrace]:
    """Return the op calls of the nearest generated kernel before or after a place."""
    kernels = side.kernels
    after = next((index for index, one in enumerate(kernels) if one.place > place), len(kernels))
    index = after if step > 0 else after - 1
    return owners.get(kernels[index].item, []) if 0 <= index < len(kernels) else []
