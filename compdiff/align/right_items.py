"""Finds the right items of left op calls. In: traces with joint nodes, the right side's wrapper calls. Out: their items.

Joint node -> post-grad node (the lineage) -> wrapper call -> right op call or kernel.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from compdiff.align.inlined import CONSTANTS, HORIZONTAL, NOT_COMPUTING, inlined_nodes
from compdiff.align.items import in_order, right_items, right_kernel, right_op
from compdiff.align.lineage import NodeRef
from compdiff.align.own_nodes import own_nodes
from compdiff.align.traces import Alignment
from compdiff.model import Capture, CompiledGraph, Kernel, OpCall

# Dispatcher ops that wrapper code calls without naming its provenance, and the post-grad ops they do.
# Source: ScatterFallback and IndexPutFallback, torch/_inductor/ir.py (torch 2.13, 2.14).
_UNNAMED_FALLBACKS = {
    "scatter_": frozenset({"scatter"}),
    "scatter_reduce_": frozenset({"scatter_add", "scatter_reduce", "scatter"}),
    "index_put_": frozenset({"index_put", "index_put_", "_unsafe_index_put"}),
}
# The same for a copy from one device to another. Source: DeviceCopy, torch/_inductor/ir.py (torch 2.13, 2.14).
_DEVICE_COPIES = frozenset({"device_put"})
# The same for a copy to or from a complex dtype. Source: InplaceCopyFallback, torch/_inductor/ir.py (torch 2.14).
_DTYPE_COPIES = frozenset({"convert_element_type"})

# Source: ForeachKernelSchedulerNode, torch/_inductor/scheduler.py; TritonScheduling.get_kernel_name (torch 2.14).
_HORIZONTAL_KERNEL = "triton_for_"


def item_nodes(right: Capture) -> dict[str, list[NodeRef]]:
    """Return, for each right item that a graph's call made, the post-grad nodes that it may compute."""
    graphs = {graph.id: graph for graph in right.compiler.graphs} if right.compiler else {}
    inlined = {number: inlined_nodes(graph) for number, graph in graphs.items()}
    found: dict[str, list[NodeRef]] = {}
    fallbacks: dict[int, list[OpCall]] = defaultdict(list)
    for item, made in right_items(right):
        call = (
            None if made.graph is None or made.call is None else graphs[made.graph].calls[made.call]
        )
        if made.graph is not None and call is not None and (call.nodes or isinstance(made, Kernel)):
            names = (*call.nodes, *inlined[made.graph].get(call.index, ()))
            found[item] = [NodeRef(made.graph, name) for name in names]
        elif made.graph is not None and isinstance(made, OpCall):
            fallbacks[made.graph].append(made)
        elif made.graph is not None and made.name.startswith(_HORIZONTAL_KERNEL):
            found[item] = _horizontal_nodes(graphs[made.graph])
    for number, calls in fallbacks.items():
        found |= _fallback_nodes(graphs[number], calls)
    return found


def _horizontal_nodes(graph: CompiledGraph) -> list[NodeRef]:
    """Return the foreach nodes that no wrapper call names: Inductor names no node for the kernels that run them.

    Which of several such kernels runs which node is not told; each may run all.
    """
    named = {name for call in graph.calls for name in call.nodes}
    nodes = graph.post_grad.nodes if graph.post_grad else ()
    return [
        NodeRef(graph.id, node.name)
        for node in nodes
        if node.target.startswith(HORIZONTAL) and node.name not in named
    ]


def _fallback_nodes(graph: CompiledGraph, calls: Sequence[OpCall]) -> dict[str, list[NodeRef]]:
    """Return the nodes of op calls that no wrapper call names: the n-th call of an op does the n-th node of its kind."""
    waiting = list(graph.post_grad.nodes) if graph.post_grad else []
    found = {}
    for call in calls:
        ops = _unnamed_ops(call)
        node = next(
            (node for node in waiting if node.target.partition(".")[2].partition(".")[0] in ops),
            None,
        )
        if node is not None:
            waiting.remove(node)
            found[right_op(call.id)] = [NodeRef(graph.id, node.name)]
    return found


def _unnamed_ops(call: OpCall) -> frozenset[str]:
    """Return the post-grad ops that a call without a named provenance may do."""
    name = call.name.rpartition("::")[2]
    if name == "copy_" and len({meta.device for meta in call.inputs}) > 1:
        return _DEVICE_COPIES
    if name == "copy_" and len({meta.dtype for meta in call.inputs}) > 1:
        return _DTYPE_COPIES
    return _UNNAMED_FALLBACKS.get(name, frozenset())


def find_right_items(result: Alignment) -> None:
    """Give each trace its post-grad nodes, the pass events that took nodes of it, and the right items that do its work."""
    result.item_nodes = own_nodes(
        right_items(result.right), result.item_nodes, result.lineage.nodes
    )
    items_of: dict[NodeRef, list[str]] = defaultdict(list)
    for item, refs in result.item_nodes.items():
        for ref in refs:
            items_of[ref].append(item)
    _drop_preparing_kernels(result, items_of)
    _add_launched_kernels(result.right.kernels, items_of)
    for trace in result.traces:
        frame = result.lineage.frames.get(trace.compile_id or "")
        if frame is None:
            continue
        trace.events += frame.taken.get(trace.dynamo_node or "", ())
        for node in trace.joint:
            trace.finals += [
                ref for ref in frame.finals.get(node.name, ()) if ref not in trace.finals
            ]
            trace.events += [
                event for event in frame.gone.get(node.name, ()) if event not in trace.events
            ]
    _find_items(result, items_of)


def _find_items(result: Alignment, items_of: dict[NodeRef, list[str]]) -> None:
    """Give each trace the right items that compute its nodes.

    A view or a constant among a call's nodes may stand in a kernel of other calls, which reads through it: such a kernel
    does not do the call's work, unless the call has no other.
    """
    handed = _handed_over(result, items_of)
    computing = [
        {
            item
            for ref in trace.finals
            if ref in handed or _computes(result, ref)
            for item in items_of.get(ref, ())
        }
        for trace in result.traces
    ]
    computed = frozenset[str]().union(*computing)
    for trace, own in zip(result.traces, computing, strict=True):
        every = [item for ref in trace.finals for item in items_of.get(ref, ())]
        trace.items = in_order(it for it in every if not own or it in own or it not in computed)


def _handed_over(result: Alignment, items_of: dict[NodeRef, list[str]]) -> frozenset[NodeRef]:
    """Return the constants that op calls read: a kernel has to store them."""
    nodes = result.lineage.nodes
    return frozenset(
        source
        for ref, node in nodes.items()
        if any(item.startswith("c") for item in items_of.get(ref, ()))
        for source in (NodeRef(ref.graph, name) for name in node.inputs)
        if source in nodes and nodes[source].target in CONSTANTS
    )


def _computes(result: Alignment, ref: NodeRef) -> bool:
    node = result.lineage.nodes.get(ref)
    return node is None or node.target not in (NOT_COMPUTING | CONSTANTS)


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
