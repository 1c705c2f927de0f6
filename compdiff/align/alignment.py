"""Aligns two captures. In: a left capture and a right one with its compiler's account. Out: a trace for each left op call.

The certain chain: left op call -> the same call in the attribution pass -> Dynamo node -> joint node -> post-grad node ->
wrapper call -> right op call or kernel. Where a link is missing, sequence and name matchers stand in, and say so.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from compdiff.align.items import in_order, left_op, right_items, right_kernel, right_op
from compdiff.align.lineage import Lineage, NodeRef, trace_lineage
from compdiff.align.sequence import common_pairs, leftover_pairs
from compdiff.model import (
    AttributedCall,
    Capture,
    Certainty,
    CompiledGraph,
    GraphNode,
    Kernel,
    Match,
    OpCall,
    PassEvent,
)


@dataclass
class OpTrace:
    """What is known of one left op call's way to the right.

    `kept` is the right op call that it simply is, outside compiled graphs. Else `joint` are the joint nodes it became,
    `finals` the post-grad nodes that do its work, `items` the right items that run them, and `events` the pass
    events that removed nodes of it.
    """

    call: OpCall
    compile_id: str | None = None
    dynamo_node: str | None = None
    joint: list[GraphNode] = field(default_factory=list)
    finals: list[NodeRef] = field(default_factory=list)
    items: tuple[str, ...] = ()
    events: list[PassEvent] = field(default_factory=list)
    kept: str | None = None
    certainty: Certainty = "certain"
    by: str = ""

    @property
    def id(self) -> str:
        """The diff's id of the op call."""
        return left_op(self.call.id)


@dataclass
class Alignment:
    """All traces, in left order, with the lineage they rest on and the matches made.

    `prepares` maps a generated kernel to the right op call whose input it copies: both name the op call's node.
    """

    left: Capture
    right: Capture
    traces: list[OpTrace]
    lineage: Lineage
    item_nodes: dict[str, list[NodeRef]]
    matches: list[Match]
    prepares: dict[str, str] = field(default_factory=dict)


_ACCUMULATE_GRAD = "AccumulateGrad"
# Op calls that only allocate: the wrapper's memory plan takes their place, and no graph node does.
ALLOCATIONS = frozenset(
    {"aten::empty", "aten::empty_like", "aten::empty_strided", "aten::new_empty"}
)


def align(left: Capture, right: Capture) -> Alignment:
    """Return the alignment of two captures, certain matchers first."""
    traces = [OpTrace(call) for call in left.op_calls]
    if right.compiler is None or not right.compiler.graphs:
        lineage = Lineage(frames={}, calls={}, nodes={})
        result = Alignment(left, right, traces, lineage, {}, [])
        _match_rest(result, "sequence of op calls")
        return result
    lineage = trace_lineage(right.compiler)
    result = Alignment(left, right, traces, lineage, _item_nodes(right), [])
    attributed = _attribute(result, right.compiler.attributed)
    _find_joint_nodes(result, right.compiler.attributed, attributed)
    _find_items(result)
    _match_rest(result, "sequence of op calls outside the compiled graphs")
    _collect_matches(result)
    return result


# ---------------------------------------------------------------- left op call -> attribution pass


def _attribute(result: Alignment, calls: Sequence[AttributedCall]) -> dict[int, int]:
    """Return {left op call: index in the attribution pass} where both passes made the same call in the same order."""
    left_keys = [
        _key(call.name, call.overload, [meta.shape for meta in call.inputs])
        for call in result.left.op_calls
    ]
    right_keys = [_key(call.name, call.overload, call.shapes) for call in calls]
    pairs = common_pairs(left_keys, right_keys)
    pairs += leftover_pairs(left_keys, right_keys, pairs)
    for index, other in pairs:
        trace = result.traces[index]
        trace.compile_id, trace.dynamo_node = calls[other].compile_id, calls[other].node
        trace.by = "attribution pass"
    return dict(pairs)


def _key(name: str, overload: str, shapes: Iterable[tuple[int, ...]]) -> tuple[object, ...]:
    """Return what two passes agree on for one call; in place or not may depend on who watches."""
    return name.rstrip("_"), overload, tuple(shapes)


# ---------------------------------------------------------------- attribution pass -> joint graph


def _find_joint_nodes(
    result: Alignment, calls: Sequence[AttributedCall], attributed: dict[int, int]
) -> None:
    """Give each trace its joint nodes: forward calls by Dynamo node, backward calls by autograd sequence number."""
    groups: dict[tuple[str, str], list[OpTrace]] = defaultdict(list)
    for index, other in attributed.items():
        call = calls[other]
        if call.compile_id is not None and call.node is not None and call.phase == "forward":
            groups[call.compile_id, call.node].append(result.traces[index])
    for (compile_id, node), traces in groups.items():
        frame = result.lineage.frames.get(compile_id)
        nodes = (
            [item for item in frame.joint if not item.backward and node in item.dynamo_nodes]
            if frame
            else []
        )
        distribute(traces, nodes)
    _find_backward_nodes(result, calls, attributed)


def _find_backward_nodes(
    result: Alignment, calls: Sequence[AttributedCall], attributed: dict[int, int]
) -> None:
    left_of = {other: index for index, other in attributed.items()}
    forward = {
        call.sequence: left_of[other]
        for other, call in enumerate(calls)
        if call.phase == "forward" and call.sequence >= 0 and other in left_of
    }
    groups: dict[int, list[OpTrace]] = defaultdict(list)
    for index, other in attributed.items():
        if calls[other].phase == "backward" and calls[other].sequence in forward:
            groups[forward[calls[other].sequence]].append(result.traces[index])
    for origin_index, traces in groups.items():
        origin = result.traces[origin_index]
        frame = result.lineage.frames.get(origin.compile_id or "")
        if frame is None:
            continue
        sequences = {node.sequence for node in origin.joint if node.sequence >= 0}
        for trace in traces:
            trace.compile_id = origin.compile_id
        distribute(
            traces, [node for node in frame.joint if node.backward and node.sequence in sequences]
        )
    _find_accumulations(result)


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
    return f"{call.name.replace('::', '.')}.{call.overload or 'default'}"


def _same_aten(original: str, op: str) -> bool:
    """Return whether a node's original op is `op`; an in-place call is traced as its functional form."""
    if original == op:
        return True
    name, _, _ = op.rpartition(".")
    other, _, _ = original.rpartition(".")
    return name.endswith("_") and not name.endswith("__") and other == name[:-1]


# ---------------------------------------------------------------- joint graph -> right items


# Dispatcher ops that wrapper code calls without naming its provenance, and the post-grad ops they do.
# Source: ScatterFallback and IndexPutFallback, torch/_inductor/ir.py (torch 2.13, 2.14).
_UNNAMED_FALLBACKS = {
    "scatter_": frozenset({"scatter"}),
    "scatter_reduce_": frozenset({"scatter_add", "scatter_reduce", "scatter"}),
    "index_put_": frozenset({"index_put", "index_put_", "_unsafe_index_put"}),
}


def _item_nodes(right: Capture) -> dict[str, list[NodeRef]]:
    """Return, for each right item that a graph's call made, the post-grad nodes that it may compute."""
    graphs = {graph.id: graph for graph in right.compiler.graphs} if right.compiler else {}
    found: dict[str, list[NodeRef]] = {}
    fallbacks: dict[int, list[OpCall]] = defaultdict(list)
    for item, made in right_items(right):
        if made.graph is not None and made.call is not None:
            found[item] = [
                NodeRef(made.graph, name) for name in graphs[made.graph].calls[made.call].nodes
            ]
        elif made.graph is not None and isinstance(made, OpCall):
            fallbacks[made.graph].append(made)
    for number, calls in fallbacks.items():
        found |= _fallback_nodes(graphs[number], calls)
    return found


def _fallback_nodes(graph: CompiledGraph, calls: Sequence[OpCall]) -> dict[str, list[NodeRef]]:
    """Return the nodes of op calls that no wrapper call names: the n-th call of an op does the n-th node of its kind."""
    waiting = list(graph.post_grad.nodes) if graph.post_grad else []
    found = {}
    for call in calls:
        ops = _UNNAMED_FALLBACKS.get(call.name.rpartition("::")[2], frozenset())
        node = next(
            (
                node
                for node in waiting
                if node.target.removeprefix("aten.").partition(".")[0] in ops
            ),
            None,
        )
        if node is not None:
            waiting.remove(node)
            found[right_op(call.id)] = [NodeRef(graph.id, node.name)]
    return found


def _find_items(result: Alignment) -> None:
    items_of: dict[NodeRef, list[str]] = defaultdict(list)
    for item, refs in result.item_nodes.items():
        for ref in _own_nodes(result, item, refs):
            items_of[ref].append(item)
    _drop_preparing_kernels(result, items_of)
    _add_launched_kernels(result.right.kernels, items_of)
    for trace in result.traces:
        frame = result.lineage.frames.get(trace.compile_id or "")
        if frame is None:
            continue
        for node in trace.joint:
            trace.finals += [
                ref for ref in frame.finals.get(node.name, ()) if ref not in trace.finals
            ]
            trace.events += [
                event for event in frame.gone.get(node.name, ()) if event not in trace.events
            ]
        trace.items = in_order(item for ref in trace.finals for item in items_of.get(ref, ()))


def _own_nodes(result: Alignment, item: str, refs: list[NodeRef]) -> list[NodeRef]:
    """Return the nodes that a right item computes: an op call that names its inputs' nodes too computes only its own."""
    if not item.startswith("c"):
        return refs
    name = result.right.op_calls[int(item[1:])].name.replace("::", ".")
    own = [
        ref
        for ref in refs
        if ref in result.lineage.nodes and result.lineage.nodes[ref].target.startswith(f"{name}.")
    ]
    return own or refs


def _drop_preparing_kernels(result: Alignment, items_of: dict[NodeRef, list[str]]) -> None:
    """Where a generated kernel and an op call both name a node, the op call does its work and the kernel prepares it."""
    for items in items_of.values():
        op_call = next((item for item in items if item.startswith("c")), None)
        if op_call is None:
            continue
        for kernel in [item for item in items if item.startswith("k")]:
            items.remove(kernel)
            result.prepares[kernel] = op_call


def _add_launched_kernels(kernels: Iterable[Kernel], items_of: dict[NodeRef, list[str]]) -> None:
    """Let each kernel that a right op call launched follow that op call."""
    launched: dict[str, list[str]] = defaultdict(list)
    for kernel in kernels:
        if kernel.op_call is not None:
            launched[right_op(kernel.op_call)].append(right_kernel(kernel.id))
    for items in items_of.values():
        items += [
            kernel
            for item in list(items)
            for kernel in launched.get(item, ())
            if kernel not in items
        ]


# ---------------------------------------------------------------- what runs outside the graphs


def _match_rest(result: Alignment, by: str) -> None:
    """Match the left op calls that no graph holds with the right op calls that no wrapper call made."""
    left = [trace for trace in result.traces if not trace.joint and _outside(trace, result.lineage)]
    right = [call for call in result.right.op_calls if call.call is None]
    left_keys = [_loose_key(trace.call) for trace in left]
    right_keys = [_loose_key(call) for call in right]
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


def _loose_key(call: OpCall) -> tuple[object, ...]:
    return _key(call.name, call.overload, [meta.shape for meta in call.inputs])


def _collect_matches(result: Alignment) -> None:
    """State each trace as a match, with its evidence."""
    for trace in result.traces:
        if trace.kept is not None:
            match = Match(
                left=(trace.id,),
                right=(trace.kept,),
                by="sequence",
                certainty="likely",
                evidence=trace.by,
            )
        elif trace.items:
            names = ", ".join(ref.name for ref in trace.finals[:6])
            evidence = f"Dynamo node {trace.dynamo_node or '(backward)'} of {trace.compile_id} -> post-grad {names}"
            match = Match(
                left=(trace.id,),
                right=trace.items,
                by="provenance",
                certainty=trace.certainty,
                evidence=evidence,
            )
        else:
            continue
        result.matches.append(match)
