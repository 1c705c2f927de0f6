"""Finds the joint nodes of left op calls. In: traces and the attribution pass. Out: traces with their joint nodes.

Left op call -> the same call in the attribution pass -> Dynamo node -> joint node; a backward call goes by the autograd
sequence number of its forward call.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from compdiff.align.checkpoints import find_recomputed
from compdiff.align.liveness import is_view
from compdiff.align.sequence import common_pairs, leftover_pairs, pairs_between
from compdiff.align.traces import ALLOCATIONS, Alignment, CallKey, OpTrace, call_key
from compdiff.model import AttributedCall, GraphNode, OpCall

# Calls that make all views at once, and the call that Dynamo traces for each of them where Python unpacks the result.
# Source: TensorVariable.unpack_var_sequence, torch/_dynamo/variables/tensor.py (torch 2.14).
_ONE_BY_ONE = {"aten::unbind": "aten::select"}


def find_joint_nodes(result: Alignment, calls: Sequence[AttributedCall]) -> None:
    """Give each trace its joint nodes: forward calls by Dynamo node, backward calls by autograd sequence number."""
    attributed = _attribute(result, calls)
    _find_forward_nodes(result, calls, attributed)
    _find_backward_nodes(result, calls, attributed)
    _find_unpacked(result, calls, attributed)
    _find_accumulations(result)
    _find_enclosed(result)


def _attribute(result: Alignment, calls: Sequence[AttributedCall]) -> dict[int, int]:
    """Return {left op call: index in the attribution pass} where both passes made the same call in the same order."""
    left_keys = [
        call_key(call.name, call.overload, [meta.shape for meta in call.inputs])
        for call in result.left.op_calls
    ]
    right_keys = [call_key(call.name, call.overload, call.shapes) for call in calls]
    in_order = common_pairs(left_keys, right_keys)
    pairs = in_order + leftover_pairs(left_keys, right_keys, in_order)
    with_numbers = _number_for_tensor_pairs(left_keys, right_keys, in_order, pairs)
    for index, other in pairs + with_numbers:
        trace = result.traces[index]
        trace.compile_id, trace.dynamo_node = calls[other].compile_id, calls[other].node
        trace.by = "attribution pass"
    for index, _ in with_numbers:
        result.traces[index].certainty = "likely"
    return dict(pairs + with_numbers)


def _number_for_tensor_pairs(
    left: Sequence[CallKey],
    right: Sequence[CallKey],
    in_order: Sequence[tuple[int, int]],
    paired: Sequence[tuple[int, int]],
) -> list[tuple[int, int]]:
    """Return pairs of calls in the same place that are the same but for tensors of no dimension.

    Dynamo traces a number of NumPy as such a tensor. Source: wrapped_sqrt and its like, torch/_dynamo/utils.py.
    """
    used_left, used_right = {a for a, _ in paired}, {b for _, b in paired}
    # Each paired call is a key of its own, so that only what is left over can be found.
    loose_left = [(at,) if at in used_left else _without_numbers(k) for at, k in enumerate(left)]
    loose_right = [
        (-1 - at,) if at in used_right else _without_numbers(k) for at, k in enumerate(right)
    ]
    return pairs_between(loose_left, loose_right, in_order)


def _without_numbers(key: CallKey) -> CallKey:
    name, overload, shapes = key
    return name, overload, tuple(shape for shape in shapes if shape)


def _find_enclosed(result: Alignment) -> None:
    """Give forward calls that only eager mode makes, between two calls of one Dynamo node, what else that node became.

    A composite op copies its input where the layout asks for it, and the attribution pass may have had another layout.
    """
    used: dict[str | None, set[str]] = defaultdict(set)
    for trace in result.traces:
        used[trace.compile_id] |= {node.name for node in trace.joint}
    for compile_id, name, traces in _enclosed(result.traces):
        frame = result.lineage.frames.get(compile_id)
        own = [it for it in frame.joint if name in it.dynamo_nodes] if frame else []
        free = [it for it in own if not it.backward and it.name not in used[compile_id]]
        for trace in traces:
            trace.compile_id, trace.dynamo_node = compile_id, name
            trace.joint = [] if is_view(trace.call) else list(free)
            trace.certainty, trace.by = "likely", "between calls of one node"


def _enclosed(traces: Sequence[OpTrace]) -> Iterator[tuple[str, str, list[OpTrace]]]:
    """Yield runs of untraced forward calls whose neighbours are of one Dynamo node, with that node."""
    before: tuple[str | None, str | None] = (None, None)
    between: list[OpTrace] = []
    for trace in traces:
        if trace.compile_id is None and trace.call.phase == "forward":
            between.append(trace)
            continue
        compile_id, name = trace.compile_id, trace.dynamo_node
        if between and compile_id is not None and name is not None and before == (compile_id, name):
            yield compile_id, name, between
        before, between = (compile_id, name), []


def _find_forward_nodes(
    result: Alignment, calls: Sequence[AttributedCall], attributed: dict[int, int]
) -> None:
    groups: dict[tuple[str, str], list[OpTrace]] = defaultdict(list)
    for index, other in attributed.items():
        call = calls[other]
        # What autograd runs inside a node, as torch.func.grad does, is of that node.
        if call.compile_id is not None and call.node is not None:
            groups[call.compile_id, call.node].append(result.traces[index])
    for (compile_id, node), traces in groups.items():
        frame = result.lineage.frames.get(compile_id)
        nodes = (
            [item for item in frame.joint if not item.backward and node in item.dynamo_nodes]
            if frame
            else []
        )
        distribute(traces, nodes)


def _find_backward_nodes(
    result: Alignment, calls: Sequence[AttributedCall], attributed: dict[int, int]
) -> None:
    left_of = {other: index for index, other in attributed.items()}
    forward = {
        call.sequence: left_of[other]
        for other, call in enumerate(calls)
        if call.phase == "forward" and call.sequence >= 0 and other in left_of
    }
    again = find_recomputed(result, calls, attributed)
    groups: dict[int, list[OpTrace]] = defaultdict(list)
    for index, other in attributed.items():
        if index in again:
            continue
        is_free = calls[other].phase == "backward" and calls[other].node is None
        if is_free and calls[other].sequence in forward:
            groups[forward[calls[other].sequence]].append(result.traces[index])
    for origin_index, traces in groups.items():
        origin = result.traces[origin_index]
        frame = result.lineage.frames.get(origin.compile_id or "")
        if frame is None:
            continue
        sequences = {node.sequence for node in origin.joint if node.sequence >= 0}
        for trace in traces:
            trace.compile_id = origin.compile_id
        backward = [node for node in frame.joint if node.backward]
        own = [node for node in backward if origin.dynamo_node in node.dynamo_nodes]
        distribute(
            traces,
            own or [it for it in backward if it.sequence in sequences and not it.dynamo_nodes],
        )


def _find_unpacked(
    result: Alignment, calls: Sequence[AttributedCall], attributed: dict[int, int]
) -> None:
    """Match a call that makes several views with the calls, one for each view, that Dynamo traces in its place."""
    used = set(attributed.values())
    waiting = [index for index in range(len(calls)) if index not in used]
    for trace in result.traces:
        name = _ONE_BY_ONE.get(trace.call.name)
        if name is None or trace.compile_id is not None:
            continue
        shapes = tuple(meta.shape for meta in trace.call.inputs)
        alike = [i for i in waiting if calls[i].name == name and tuple(calls[i].shapes) == shapes]
        parts = alike[: len(trace.call.outputs)]
        if not parts or len(parts) < len(trace.call.outputs):
            continue
        waiting = [index for index in waiting if index not in parts]
        first = calls[parts[0]]
        trace.compile_id, trace.dynamo_node, trace.by = (
            first.compile_id,
            first.node,
            "views one by one",
        )
        nodes = {calls[index].node for index in parts}
        frame = result.lineage.frames.get(first.compile_id or "")
        joint = frame.joint if frame else []
        trace.joint = [it for it in joint if not it.backward and nodes & set(it.dynamo_nodes)]
        _find_backward_of(result, trace, joint)


def _find_backward_of(result: Alignment, origin: OpTrace, joint: Sequence[GraphNode]) -> None:
    """Give the backward calls of a forward call that had no partner of its own the backward nodes of what stands for it."""
    sequences = {node.sequence for node in origin.joint if node.sequence >= 0}
    traces = [
        trace
        for trace in result.traces
        if trace.compile_id is None
        and trace.call.phase == "backward"
        and 0 <= trace.call.sequence == origin.call.sequence
    ]
    for trace in traces:
        trace.compile_id, trace.by = origin.compile_id, origin.by
    distribute(traces, [node for node in joint if node.backward and node.sequence in sequences])


def _find_accumulations(result: Alignment) -> None:
    """Match the backward calls that found no node with the backward nodes that found no call, by op, shape and order.

    Gradient accumulation belongs to no forward call: autograd numbers it by chance.
    """
    for compile_id, frame in result.lineage.frames.items():
        traces = [
            t
            for t in result.traces
            if t.compile_id == compile_id and not t.joint and t.call.phase == "backward"
        ]
        used = {
            node.name
            for trace in result.traces
            if trace.compile_id == compile_id
            for node in trace.joint
        }
        nodes = [
            node
            for node in frame.joint
            if node.backward and node.name not in used and node.original_aten
        ]
        left = [
            (
                _aten_text(t.call).replace("_.", "."),
                t.call.outputs[0].shape if t.call.outputs else (),
            )
            for t in traces
        ]
        right = [
            (node.original_aten, node.outputs[0].shape if node.outputs else ()) for node in nodes
        ]
        pairs = common_pairs(left, right)
        for index, other in pairs + leftover_pairs(left, right, pairs):
            traces[index].joint = [nodes[other]]
            traces[index].certainty = "likely"


def distribute(traces: Sequence[OpTrace], nodes: Sequence[GraphNode]) -> None:
    """Share out the joint nodes of one Dynamo node among the op calls it makes, by the op each was decomposed from.

    Several calls of one op take equal runs of its nodes in order; when the numbers do not allow that, all share all. Nodes
    that name no op of the group go to the calls that found none.
    """
    by_op: dict[str, list[OpTrace]] = defaultdict(list)
    for trace in traces:
        by_op[_aten_text(trace.call)].append(trace)
    rest = list(nodes)
    for op, group in by_op.items():
        own = [node for node in nodes if _same_aten(node.original_aten, op)]
        rest = [node for node in rest if node not in own]
        for trace, part in zip(group, runs(own, len(group)), strict=True):
            trace.joint = part
    computing = [
        node for node in rest if node.target != "aten.alias.default" and node.op == "call_function"
    ]
    for trace in traces:
        if not trace.joint and trace.call.name not in ALLOCATIONS:
            trace.joint = list(computing)
            trace.certainty = "likely"


def runs(nodes: Sequence[GraphNode], count: int) -> list[list[GraphNode]]:
    """Split nodes into `count` runs: by autograd sequence number, by equal length, else everything for everyone."""
    by_sequence: dict[int, list[GraphNode]] = defaultdict(list)
    for node in nodes:
        by_sequence[node.sequence].append(node)
    if len(by_sequence) == count:
        return list(by_sequence.values())
    if count and len(nodes) % count == 0:
        length = len(nodes) // count
        return [list(nodes[index * length : (index + 1) * length]) for index in range(count)]
    return [list(nodes) for _ in range(count)]


def _aten_text(call: OpCall) -> str:
    return _one_view(f"{call.name.replace('::', '.')}.{call.overload or 'default'}")


def _one_view(op: str) -> str:
    """Return an op, but `view` for `_unsafe_view`: AOTAutograd traces the view of a matmul's result as any other view."""
    return op.replace("aten._unsafe_view.", "aten.view.")


def _same_aten(original: str, op: str) -> bool:
    """Return whether a node's original op is `op`; an in-place call is traced as its functional form."""
    original = _one_view(original)
    if original == op:
        return True
    name, _, _ = op.rpartition(".")
    other, _, _ = original.rpartition(".")
    return name.endswith("_") and not name.endswith("__") and other == name[:-1]
