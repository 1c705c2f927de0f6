"""Matches what stands between the same neighbours. In: traces, a right op call of another name. Out: traces with items.

Where code takes another way when it is compiled, or a pattern puts a call in the place of many, names tell nothing. But if
between two calls that are known the right side does one thing and the left side another, the one stands for the other.
"""

from collections.abc import Sequence
from math import prod

from compdiff.align.anchors import Anchors
from compdiff.align.guesses import RightSide, anchors_of, computes, give, is_free
from compdiff.align.items import right_op
from compdiff.align.op_names import ADDED_CALLS, functional_name, is_view_name
from compdiff.align.traces import Alignment, OpTrace
from compdiff.model import OpCall

BETWEEN = "the only work between the same two neighbours"


def match_neighbours(result: Alignment, side: RightSide) -> None:
    """Give all op calls between two known ones the one right op call that runs between the same two."""
    alone = _alone(result, side)
    if not alone:
        return
    anchors = anchors_of(result, side)
    positions = {trace.call.id: index for index, trace in enumerate(result.traces)}
    for place, call in alone:
        part = _between(result.traces, positions, anchors, place)
        if any(computes(trace) for trace in part) and _reads_the_same(part, call):
            for trace in part:
                give(trace, right_op(call.id), BETWEEN)


def _alone(result: Alignment, side: RightSide) -> list[tuple[int, OpCall]]:
    """Return the right op calls that compute, that nothing accounts for, and whose two neighbours are accounted for."""
    known = {item for trace in result.traces for item in (*trace.items, trace.kept)}
    places = {place: item in known for item, place in side.places.items()}
    return [
        (place, call)
        for place, call in side.calls
        if not places[place] and places.get(place - 1) and places.get(place + 1)
        if not is_view_name(call.name) and functional_name(call.name) not in ADDED_CALLS
    ]


def _between(
    traces: Sequence[OpTrace], positions: dict[int, int], anchors: Anchors, place: int
) -> list[OpTrace]:
    """Return the left op calls between the neighbours of a right place, or none where one of them is accounted for."""
    first, last = anchors.span(place)
    if first not in positions or last not in positions:
        return []
    part = list(traces[positions[first] + 1 : positions[last]])
    return part if all(is_free(trace) for trace in part) else []


def _reads_the_same(part: Sequence[OpTrace], call: OpCall) -> bool:
    """Return whether the left op calls begin with an input of the size of the right one's first input."""
    read = next((prod(trace.call.inputs[0].shape) for trace in part if trace.call.inputs), None)
    return bool(call.inputs) and read == prod(call.inputs[0].shape)
