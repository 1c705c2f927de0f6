"""Matches what runs outside compiled graphs. In: traces and right op calls that no graph holds. Out: traces with matches."""

from collections.abc import Sequence

from compdiff.align.items import right_op
from compdiff.align.lineage import Lineage
from compdiff.align.sequence import common_pairs, leftover_pairs
from compdiff.align.traces import Alignment, OpTrace, call_key
from compdiff.model import OpCall

_ACCUMULATE_GRAD = "AccumulateGrad"


def match_outside_graphs(result: Alignment, by: str) -> None:
    """Match the left op calls that no graph holds with the right op calls that no wrapper call made."""
    left = [trace for trace in result.traces if not trace.joint and _outside(trace, result.lineage)]
    right = [call for call in result.right.op_calls if call.call is None]
    left_keys = [_loosecall_key(trace.call) for trace in left]
    right_keys = [_loosecall_key(call) for call in right]
    pairs = common_pairs(left_keys, right_keys)
    pairs += leftover_pairs(left_keys, right_keys, pairs)
    for index, other in pairs:
        left[index].kept = right_op(right[other].id)
        left[index].by = by
    used = {other for _, other in pairs}
    _match_gradient_copies(left, [call for index, call in enumerate(right) if index not in used])


def _match_gradient_copies(left: Sequence[OpTrace], right: Sequence[OpCall]) -> None:
    """Match what autograd does to hand over a gradient: taken as it is on the left, copied on the right.

    A gradient whose layout is not its parameter's is copied (an allocation and a copy) instead of detached.
    Source: torch/csrc/autograd/functions/accumulate_grad.h (torch 2.13).
    """
    groups: list[list[OpCall]] = []
    for call in right:
        if not call.autograd_node.endswith(_ACCUMULATE_GRAD):
            continue
        if "empty" in call.name or not groups:
            groups.append([])
        groups[-1].append(call)
    for trace in left:
        if trace.kept is not None or not trace.call.autograd_node.endswith(_ACCUMULATE_GRAD):
            continue
        if not trace.call.outputs:
            continue  # of an imported call: its shape is not known
        shapes = [meta.shape for meta in trace.call.outputs]
        group = next(
            (group for group in groups if [meta.shape for meta in group[0].outputs] == shapes), None
        )
        if group is not None:
            groups.remove(group)
            trace.items = tuple(right_op(call.id) for call in group)
            trace.certainty, trace.by = "likely", "gradient of the same shape"


def _outside(trace: OpTrace, lineage: Lineage) -> bool:
    """Return whether the call ran outside the graphs, or inside one that Inductor gives no account of."""
    return trace.compile_id is None or not lineage.frames[trace.compile_id].joint


def _loosecall_key(call: OpCall) -> tuple[object, ...]:
    return call_key(call.name, call.overload, [meta.shape for meta in call.inputs])
