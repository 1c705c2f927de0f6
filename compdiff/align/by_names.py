"""Matches by names. In: traces, and right items that nothing else accounts for. Out: traces with items, as guesses.

Where no compiler tells what it did, as for an imported trace, names still tell much. A library call such as `aten::addmm` is
what a known pattern becomes. A generated kernel's name lists the ops it was made from, each once and sorted: for each op the
left calls of that name are laid over the kernels that name it, both in order, so that no more is crossed of what is known
already than must be. A kernel of the backward pass that names a forward op computes it again.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

from compdiff.align.anchors import Anchors
from compdiff.align.guesses import (
    UNKNOWN_GRAPH,
    NamedKernel,
    RightSide,
    anchors_of,
    by_item,
    computes,
    give,
    is_free,
    right_side,
)
from compdiff.align.laid_over import lay_over
from compdiff.align.library_calls import match_fallbacks, match_folded, match_library_calls
from compdiff.align.named_views import match_named_views
from compdiff.align.neighbours import match_neighbours
from compdiff.align.op_names import (
    AUTOGRAD_NODES,
    COMPOSITES,
    LIBRARY_OPS,
    SPLIT_PRODUCTS,
    TAKEN_APART,
    composite_of,
    is_view_name,
    traced_name,
)
from compdiff.align.traces import ALLOCATIONS, Alignment, OpTrace
from compdiff.model import Phase

_BY_NAME = "the ops in the name of the kernel, in order"
_BY_SEQUENCE = "the kernel names the op, and does the work of its backward"
# Of two kernels that could both have a call, one whose calls are of that size is preferred.
_OTHER_SIZE = 0.5
_NEVER = 1000.0
_Key = tuple[Phase, str]


@dataclass(frozen=True)
class _Unit:
    """Left op calls that are one op to a compiler: one call, or those of one composite op."""

    name: str
    traces: list[OpTrace]

    @property
    def place(self) -> int:
        """Where it stands in the left order."""
        return self.traces[0].call.id


@dataclass(frozen=True)
class _Known:
    """What is known before kernels are given calls: the right order, pairs, and sizes of what right items do."""

    side: RightSide
    anchors: Anchors
    sizes: dict[str, set[int]]


def match_by_names(result: Alignment) -> None:
    """Give left op calls without a counterpart the right items whose names and places fit them."""
    side = right_side(result)
    result.backward = frozenset(one.item for one in side.kernels if one.phase == "backward")
    match_library_calls(result, side)
    kernels: dict[_Key, list[NamedKernel]] = defaultdict(list)
    done = {(item, traced_name(one.call.name)) for one in result.traces for item in one.items}
    for kernel in side.kernels:
        for op in sorted(kernel.ops):
            if (kernel.item, op) not in done:
                kernels[kernel.phase, op].append(kernel)
    units = _units(result, kernels)
    # What agrees in number is paired first: it tells where kernels of one name stand between the same library calls.
    agreed = [key for key in units if len(units[key]) == len(kernels[key])]
    for keys in (agreed, [key for key in units if key not in set(agreed)]):
        anchors = anchors_of(result, side)
        known = _Known(side, anchors, _sizes(result.traces))
        pairs = [pair for key in keys for pair in _pairs(units[key], kernels[key], known)]
        for unit, kernel in pairs:
            for trace in unit.traces:
                give(trace, kernel.item, _BY_NAME)
    _share_parts(result.traces, side.kernels)
    _match_recomputed(result.traces, side.kernels)
    match_named_views(result.traces, side)
    match_folded(result, (op for kernel in side.kernels for op in kernel.ops))
    match_fallbacks(result, side)
    match_neighbours(result, side)
    _mark_the_rest(result, side)


# ---------------------------------------------------------------- what may be in kernels


def _units(result: Alignment, kernels: dict[_Key, list[NamedKernel]]) -> dict[_Key, list[_Unit]]:
    """Return the op calls that kernels may do, by pass and by the op that the kernels name."""
    found: dict[_Key, list[_Unit]] = defaultdict(list)
    traces = result.traces
    composites = {
        trace.call.sequence: composite
        for trace in traces
        if trace.call.sequence >= 0 and (composite := composite_of(trace.call.chain))
    }
    last: _Unit | None = None
    for trace in traces:
        if not computes(trace) or trace.kept is not None:
            last = None if trace.kept is not None else last
            continue
        name = _named(trace, composites, kernels)
        if last is not None and name == last.name and _goes_on(last, trace):
            last.traces.append(trace)
            continue
        last = _Unit(name, [trace])
        if name and _may_be_generated(result, trace, kernels[trace.call.phase, name]):
            found[trace.call.phase, name].append(last)
    return dict(found)


def _named(
    trace: OpTrace, composites: dict[int, str], kernels: dict[_Key, list[NamedKernel]]
) -> str:
    """Return the op under which kernels of the call's pass name it, or ""."""
    call = trace.call
    backward = call.phase == "backward"
    composite = composites.get(call.sequence, "") if backward else composite_of(call.chain)
    names = [
        COMPOSITES[composite][backward] if composite else "",
        traced_name(call.name),
        AUTOGRAD_NODES.get(call.autograd_node, ""),
        TAKEN_APART.get(traced_name(call.name), ""),
    ]
    return next((name for name in names if (call.phase, name) in kernels), "")


def _goes_on(unit: _Unit, trace: OpTrace) -> bool:
    """Return whether a call is one more of the composite op of a unit: a second call of its first op begins another one."""
    first, call = unit.traces[0].call, trace.call
    composite = composite_of(call.chain)
    return bool(composite) and composite == composite_of(first.chain) and first.name != call.name


def _may_be_generated(result: Alignment, trace: OpTrace, kernels: Sequence[NamedKernel]) -> bool:
    """Return whether a kernel may do the call's work: a product's only if it is a template, or the rest of a split one."""
    name = traced_name(trace.call.name)
    if not is_free(trace):
        names = {result.right.op_calls[int(item[1:])].name for item in trace.items}
        return any((name, product) in SPLIT_PRODUCTS for product in names)
    return name not in LIBRARY_OPS or any(kernel.template for kernel in kernels)


# ---------------------------------------------------------------- which kernel


def _pairs(
    units: Sequence[_Unit],
    kernels: Sequence[NamedKernel],
    known: _Known,
) -> list[tuple[_Unit, NamedKernel]]:
    """Return which units of one name are in which kernels of that name."""
    places = [kernel.place for kernel in kernels]
    own = [_size(unit.traces) for unit in units]
    # What is left of a split product runs after the product.
    begin = [
        max((known.side.places[item] for one in unit.traces for item in one.items), default=-1)
        for unit in units
    ]

    def cost(row: int, column: int) -> float:
        if places[column] < begin[row]:
            return _NEVER
        sizes = known.sizes.get(kernels[column].item)
        other = sizes is not None and own[row] >= 0 and own[row] not in sizes
        crossed = known.anchors.crossed(units[row].place, places[column])
        return crossed + (_OTHER_SIZE if other else 0.0)

    centers = known.anchors.centers([unit.place for unit in units], places)
    return [(units[row], kernels[column]) for row, column in lay_over(centers, len(kernels), cost)]


def _sizes(traces: Iterable[OpTrace]) -> dict[str, set[int]]:
    """Return the sizes of the largest inputs of the calls that each right item is known to do."""
    found: dict[str, set[int]] = defaultdict(set)
    for trace in traces:
        for item in trace.items:
            found[item].add(_size([trace]))
    return found


def _size(traces: Iterable[OpTrace]) -> int:
    """Return how many elements the largest input has, -1 where shapes are not known."""
    return max((prod(meta.shape) for trace in traces for meta in trace.call.inputs), default=-1)


def _share_parts(traces: Iterable[OpTrace], kernels: Iterable[NamedKernel]) -> None:
    """Let kernels of the same names that share a call share all their calls: each makes a part of one result."""
    alike: dict[tuple[Phase, frozenset[str]], list[str]] = defaultdict(list)
    for kernel in kernels:
        alike[kernel.phase, kernel.ops].append(kernel.item)
    members = by_item(traces)
    for items in alike.values():
        shared = [one for one in members[items[0]] if set(items) <= set(one.items)]
        for trace, item in (
            (trace, item)
            for other in (items if shared and len(items) > 1 else ())
            for trace in members[other]
            for item in items
        ):
            give(trace, item, _BY_NAME)


# ---------------------------------------------------------------- computed again


def _match_recomputed(traces: Sequence[OpTrace], kernels: Sequence[NamedKernel]) -> None:
    """Give a forward op call the backward kernel that names its op and does the backward of the same autograd function."""
    forward: dict[tuple[int, str], list[OpTrace]] = defaultdict(list)
    for trace in traces:
        if trace.call.phase == "forward" and trace.call.sequence >= 0 and computes(trace):
            forward[trace.call.sequence, traced_name(trace.call.name)].append(trace)
    members = by_item(traces)
    for kernel in kernels:
        inside = [one for one in members[kernel.item] if one.call.phase == "backward"]
        rest = kernel.ops - {traced_name(trace.call.name) for trace in inside}
        sequences = {trace.call.sequence for trace in inside}
        for trace in (
            trace for number in sequences for op in rest for trace in forward.get((number, op), ())
        ):
            if trace.kept is None:
                give(trace, kernel.item, _BY_SEQUENCE)


def _mark_the_rest(result: Alignment, side: RightSide) -> None:
    """Let views and allocations that nothing stands for be part of the compiled function, where anything tells of one."""
    compiled = side.kernels or any(trace.certainty == "guess" for trace in result.traces)
    for trace in result.traces if compiled else ():
        name = trace.call.name
        if is_free(trace) and (is_view_name(name) or name in ALLOCATIONS):
            trace.compile_id = UNKNOWN_GRAPH
