"""Matches what runs outside compiled graphs. In: traces and right op calls that no graph holds. Out: traces with matches."""

from collections.abc import Sequence

from compdiff.align.graph_replay import ON_THE_HOST, REPLAYED
from compdiff.align.items import right_op
from compdiff.align.lineage import Lineage
from compdiff.align.op_names import is_view_name
from compdiff.align.sequence import common_pairs, leftover_pairs
from compdiff.align.traces import Alignment, OpTrace, call_key, hands_over_a_gradient
from compdiff.model import OpCall, TensorMeta

# How many dimensions a matrix or a batch of them has. The layout of other tensors (images) is the compiler's choice.
_MATRICES = (2, 3)


def match_outside_graphs(result: Alignment, by: str) -> None:
    """Match the left op calls that no graph holds with the right op calls that no wrapper call made."""
    left = [trace for trace in result.traces if not trace.joint and _outside(trace, result.lineage)]
    right = [
        call for call in result.right.op_calls if call.call is None or result.right.compiler is None
    ]
    left_keys = [_loosecall_key(trace.call) for trace in left]
    right_keys = [_loosecall_key(call) for call in right]
    pairs = _pairs_of_shared(left_keys, right_keys)
    pairs += leftover_pairs(left_keys, right_keys, pairs)
    if result.right.compiler is None:
        pairs += _pairs_of_externs([trace.call for trace in left], right, pairs)
    for index, other in pairs:
        left[index].kept = right_op(right[other].id)
        left[index].by = by
    used = {other for _, other in pairs}
    rest = [call for index, call in enumerate(right) if index not in used]
    _match_gradients(left, rest)


def _pairs_of_shared(
    left: Sequence[tuple[object, ...]], right: Sequence[tuple[object, ...]]
) -> list[tuple[int, int]]:
    """Return the common pairs of two sequences without what only one of them has, which would only cost time."""
    shared = set(left) & set(right)
    rows = [index for index, key in enumerate(left) if key in shared]
    columns = [index for index, key in enumerate(right) if key in shared]
    pairs = common_pairs([left[row] for row in rows], [right[column] for column in columns])
    return [(rows[row], columns[column]) for row, column in pairs]


def _pairs_of_externs(
    left: Sequence[OpCall], right: Sequence[OpCall], pairs: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Return pairs of calls of one op among those that `pairs` leaves over: compiled code hands extern ops their output.

    First by the shapes of the other inputs and by which of them are transposed, which tells the products of a backward
    apart, then by the shapes, then by name and order alone: an input may come in another view.
    """
    found: list[tuple[int, int]] = []
    for left_key, right_key in (
        (_name_and_layouts, _layouts_without_output),
        (_name_and_shapes, _without_output),
        (_name, _name),
    ):
        used_left = {index for index, _ in (*pairs, *found)}
        used_right = {other for _, other in (*pairs, *found)}
        rest_left = [index for index in range(len(left)) if index not in used_left]
        rest_right = [index for index in range(len(right)) if index not in used_right]
        if left_key is _name:
            # A view of another shape is another view.
            rest_left = [index for index in rest_left if not is_view_name(left[index].name)]
        keys = [left_key(left[i]) for i in rest_left], [right_key(right[i]) for i in rest_right]
        more = _pairs_of_shared(*keys)
        if left_key is not _name:
            more += leftover_pairs(*keys, more)
        found += [(rest_left[index], rest_right[other]) for index, other in more]
    return found


def _name(call: OpCall) -> tuple[object, ...]:
    return (call.name,)


def _name_and_layouts(call: OpCall) -> tuple[object, ...]:
    return (call.name, *((meta.shape, _is_transposed(meta)) for meta in call.inputs))


def _layouts_without_output(call: OpCall) -> tuple[object, ...]:
    return (call.name, *((meta.shape, _is_transposed(meta)) for meta in call.inputs[:-1]))


def _is_transposed(meta: TensorMeta) -> bool:
    """Return whether the rows of a matrix are nearer to each other in memory than its columns."""
    return len(meta.stride) in _MATRICES and meta.stride[-2] < meta.stride[-1]


def _name_and_shapes(call: OpCall) -> tuple[object, ...]:
    return (call.name, *(meta.shape for meta in call.inputs))


def _without_output(call: OpCall) -> tuple[object, ...]:
    return (call.name, *(meta.shape for meta in call.inputs[:-1]))


def _match_gradients(traces: Sequence[OpTrace], right: Sequence[OpCall]) -> None:
    """Match what autograd does to hand over a gradient: it takes it as it is on one side, and copies it on the other.

    A gradient whose layout is not its parameter's is copied (an allocation and a copy) instead of detached.
    Source: torch/csrc/autograd/functions/accumulate_grad.h (torch 2.13).
    """
    free = {trace.call.id: trace for trace in traces if trace.kept is None and not trace.items}
    waiting = _handovers(right)
    for calls in _handovers([trace.call for trace in free.values()]):
        found = next((other for other in waiting if _gradient(other) == _gradient(calls)), None)
        if found is None:
            continue
        waiting.remove(found)
        for call in calls:
            trace = free[call.id]
            trace.items = tuple(right_op(other.id) for other in found)
            trace.certainty, trace.by = "likely", "gradient of the same shape"


def _handovers(calls: Sequence[OpCall]) -> list[list[OpCall]]:
    """Return the calls that autograd makes to hand over one gradient each: one call, or an allocation and a copy."""
    groups: list[list[OpCall]] = []
    for call in calls:
        if not hands_over_a_gradient(call) or not (call.outputs or call.inputs):
            continue
        last = groups[-1][-1] if groups else None
        fills = call.name == "aten::copy_" and last is not None and "empty" in last.name
        if fills and _gradient(groups[-1]) == _gradient([call]):
            groups[-1].append(call)
        else:
            groups.append([call])
    return groups


def _gradient(calls: Sequence[OpCall]) -> tuple[int, ...]:
    """Return the shape of the gradient that is handed over; of imported calls only the inputs are known."""
    return (*calls[-1].outputs, *calls[-1].inputs)[0].shape


def _outside(trace: OpTrace, lineage: Lineage) -> bool:
    """Return whether the call ran outside the graphs, or inside one that Inductor gives no account of."""
    if trace.by in {REPLAYED, ON_THE_HOST}:
        return False
    return trace.compile_id is None or not lineage.frames[trace.compile_id].joint


def _loosecall_key(call: OpCall) -> tuple[object, ...]:
    return call_key(call.name, call.overload, [meta.shape for meta in call.inputs])
