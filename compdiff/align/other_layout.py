"""Calls that an op makes on one layout only. In: traces, after all else was matched. Out: traces of the op they belong to.

An op such as `linear` copies its input, or multiplies in another way, by how the input is laid out. Where the compiled
function took another way before it, the input may come with other strides, and the same node makes other calls.
"""

from collections.abc import Iterable, Iterator, Sequence

from compdiff.align.inlined import NOT_COMPUTING
from compdiff.align.items import in_order
from compdiff.align.liveness import is_view
from compdiff.align.other_way import OTHER_WAY
from compdiff.align.traces import Alignment, OpTrace

OTHER_LAYOUT = "another layout of the op's input"
_COPIES = frozenset({"aten::clone", "aten::contiguous"})
_VIEWS_OF_NEW = frozenset({"aten::_unsafe_view"})


def match_other_layout(result: Alignment) -> None:
    """Give untraced calls of an op the node of its traced ones, where the compiled function took another way before it."""
    for trace, neighbour in _beside_traced(result.traces):
        trace.compile_id, trace.dynamo_node = neighbour.compile_id, neighbour.dynamo_node
        trace.by, trace.certainty = OTHER_LAYOUT, "likely"
        if not _moves_only(trace):
            trace.items = in_order(_unclaimed(result, neighbour))


def _beside_traced(traces: Sequence[OpTrace]) -> Iterator[tuple[OpTrace, OpTrace]]:
    """Yield untraced calls after another way, each with a traced call that the same line made beside it."""
    after_other_way: set[str | None] = set()
    for index, trace in enumerate(traces):
        if trace.by == OTHER_WAY:
            after_other_way.add(trace.compile_id)
        if trace.by or trace.kept is not None or trace.call.source is None:
            continue
        found = _nearest(trace, reversed(traces[:index])) or _nearest(trace, traces[index + 1 :])
        if found is not None and found.compile_id in after_other_way:
            yield trace, found


def _nearest(trace: OpTrace, others: Iterable[OpTrace]) -> OpTrace | None:
    """Return the first of `others` with a node, if all calls up to it are of the same place."""
    for other in others:
        if other.call.source != trace.call.source:
            return None
        if other.dynamo_node is not None:
            return other
    return None


def _moves_only(trace: OpTrace) -> bool:
    """Return whether a call copies its input or looks at it, and computes nothing."""
    return trace.call.name in _COPIES | _VIEWS_OF_NEW or is_view(trace.call)


def _unclaimed(result: Alignment, neighbour: OpTrace) -> Iterator[str]:
    """Yield the right items that compute a joint node of the neighbour's Dynamo node which no left op call became."""
    frame = result.lineage.frames.get(neighbour.compile_id or "")
    claimed = {node.name for trace in result.traces for node in trace.joint}
    free = {
        node.name
        for node in (frame.joint if frame else ())
        if neighbour.dynamo_node in node.dynamo_nodes
        and node.name not in claimed
        and node.target not in NOT_COMPUTING
    }
    refs = {ref for name in free for ref in (frame.finals.get(name, ()) if frame else ())}
    for item, of_item in result.item_nodes.items():
        if refs.intersection(of_item) and item not in result.prepares:
            yield item
