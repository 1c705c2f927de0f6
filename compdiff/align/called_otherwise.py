"""Lines that both sides run and that call otherwise. In: traces, after all else was matched. Out: traces with their items.

Where the compiled function took another way, lines after it may get other arguments and make other calls, as attention
that gets a mask on one side alone: the left op calls of such a line became what its nodes without a left op call became.
"""

from itertools import groupby

from compdiff.align.items import in_order
from compdiff.align.liveness import live_calls
from compdiff.align.other_way import (
    dynamo_nodes,
    items_of_nodes,
    line_of,
    traced_nodes,
    untraced_runs,
)
from compdiff.align.traces import Alignment, OpTrace
from compdiff.model import GraphNode

CALLED_OTHERWISE = "the same line, called otherwise"


def match_called_otherwise(result: Alignment) -> None:
    """Give left op calls that the attribution pass did not make the right items of the nodes of their line beside them."""
    untraced = untraced_runs(result)
    if not untraced:
        return
    live = live_calls(result.left)
    for compile_id, traces in untraced:
        nodes = dynamo_nodes(result, compile_id)
        taken = traced_nodes(result, compile_id)
        around = _nodes_around([it for it in result.traces if it.compile_id in {None, compile_id}])
        rest = [it for it in traces if it.call.phase == "forward" and it.call.source]
        for line, group in groupby(rest, key=lambda trace: line_of(trace.call.source)):
            called = list(group)
            if not any(trace.call.id in live for trace in called):
                continue
            first, last = around[called[0].call.id][0], around[called[-1].call.id][1]
            own = _of_line(_between(nodes, first, last), line) - taken
            items = in_order(items_of_nodes(result, compile_id, own))
            for trace in called:
                trace.compile_id, trace.items, trace.by = compile_id, items, CALLED_OTHERWISE
                trace.certainty = "likely"


def _nodes_around(traces: list[OpTrace]) -> dict[int, tuple[str, str]]:
    """Return {left op call: the Dynamo nodes of the nearest traced calls before and after}, "" where there is none."""
    before: dict[int, str] = {}
    after: dict[int, str] = {}
    for found, in_turn in ((before, traces), (after, traces[::-1])):
        nearest = ""
        for trace in in_turn:
            nearest = trace.dynamo_node or nearest
            found[trace.call.id] = nearest
    return {call: (before[call], after[call]) for call in before}


def _between(nodes: dict[str, GraphNode], first: str, last: str) -> list[GraphNode]:
    """Return the nodes from one on and before another, from the start or to the end where there is none."""
    names = list(nodes)
    start = names.index(first) if first in nodes else 0
    stop = names.index(last) if last in nodes else len(names)
    return [nodes[name] for name in names[start:stop]]


def _of_line(nodes: list[GraphNode], line: tuple[str, int]) -> set[str]:
    return {node.name for node in nodes if line_of(node.source) == line}
