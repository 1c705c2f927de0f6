"""Aligns two captures. In: a left capture and a right one with its compiler's account. Out: a trace for each left op call.

The certain chain: left op call -> the same call in the attribution pass -> Dynamo node -> joint node -> post-grad node ->
wrapper call -> right op call or kernel. Where a link is missing, sequence and name matchers stand in, and say so: an
imported log holds no attribution pass, and order stands for it.
"""

import msgspec

from compdiff.align.by_graph_order import BY_ORDER, find_joint_nodes_by_order
from compdiff.align.by_names import match_by_names
from compdiff.align.called_otherwise import match_called_otherwise
from compdiff.align.graph_replay import REPLAYED, match_replays
from compdiff.align.items import right_kernel
from compdiff.align.joint_nodes import find_joint_nodes
from compdiff.align.lineage import Lineage, trace_lineage
from compdiff.align.other_layout import match_other_layout
from compdiff.align.other_way import match_other_way
from compdiff.align.outside_graphs import match_outside_graphs
from compdiff.align.right_items import find_right_items, item_nodes
from compdiff.align.traces import Alignment, OpTrace, has_no_elements
from compdiff.model import GENERATED, Capture, Match


def align(left: Capture, right: Capture) -> Alignment:
    """Return the alignment of two captures, certain matchers first."""
    traces = [OpTrace(call) for call in left.op_calls]
    if left.compiler is not None:
        # Both sides are compiled code, as when one trace is shown beside itself: graphs tell nothing of the left one.
        right = msgspec.structs.replace(right, compiler=None)
    if right.compiler is None or not right.compiler.graphs:
        lineage = Lineage(frames={}, nodes={})
        result = Alignment(left, right, traces, lineage, {}, [])
        match_replays(result)
        match_outside_graphs(result, "sequence of op calls")
        match_by_names(result)
        _collect_matches(result)
        return result
    lineage = trace_lineage(right.compiler)
    result = Alignment(left, right, traces, lineage, item_nodes(right), [])
    if right.compiler.attributed:
        find_joint_nodes(result, right.compiler.attributed)
    else:
        find_joint_nodes_by_order(result, right.compiler)
    find_right_items(result)
    _leave_out_empty(result)
    match_outside_graphs(result, "sequence of op calls outside the compiled graphs")
    match_other_way(result)
    match_other_layout(result)
    if right.compiler.attributed:
        match_called_otherwise(result)
    _collect_matches(result)
    return result


def _leave_out_empty(result: Alignment) -> None:
    """Take generated kernels from calls whose results have no elements: nothing computes these, whatever nodes they became.

    Source: NopKernelSchedulerNode, torch/_inductor/scheduler.py (torch 2.14).
    """
    kernels = {
        right_kernel(kernel.id) for kernel in result.right.kernels if kernel.kind in GENERATED
    }
    for trace in result.traces:
        if has_no_elements(trace.call):
            trace.items = tuple(item for item in trace.items if item not in kernels)


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
        elif trace.by == REPLAYED:
            match = Match(
                left=(trace.id,),
                right=trace.items,
                by="graph replay",
                certainty=trace.certainty,
                evidence=trace.by,
            )
        elif trace.items and trace.certainty == "guess":
            match = Match(
                left=(trace.id,),
                right=trace.items,
                by="names",
                certainty="guess",
                evidence=trace.by,
            )
        elif trace.items:
            names = ", ".join(ref.name for ref in trace.finals[:6])
            evidence = f"Dynamo node {trace.dynamo_node or '(backward)'} of {trace.compile_id} -> post-grad {names}"
            by_order = trace.by == BY_ORDER
            match = Match(
                left=(trace.id,),
                right=trace.items,
                by="graph order" if by_order else "provenance",
                certainty=trace.certainty,
                evidence=f"{trace.by}: {evidence}" if by_order else evidence,
            )
        else:
            continue
        result.matches.append(match)
