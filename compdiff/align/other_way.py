"""Code that only one side runs. In: traces, after all else was matched. Out: traces with the items that stand for them.

A function may ask whether it is being compiled, and take another way. The op calls of the eager way are on lines that no
node of Dynamo's graph comes from; the nodes of the same functions that no op call was traced to are the other way.
"""

from collections.abc import Iterable, Iterator

from compdiff.align.items import in_order
from compdiff.align.lineage import NodeRef
from compdiff.align.liveness import live_calls
from compdiff.align.traces import Alignment, OpTrace
from compdiff.model import GraphNode, SourceLocation
from compdiff.source import is_user_file

OTHER_WAY = "another way through the same functions"
_NO_CALL = "no call"  # before the first or after the last
_Function = tuple[str, str]


def match_other_way(result: Alignment) -> None:
    """Give left op calls on lines that Dynamo never traced the right items of the other way through their functions."""
    untraced = untraced_runs(result)
    live = live_calls(result.left) if untraced else frozenset()
    for compile_id, traces in untraced:
        nodes = dynamo_nodes(result, compile_id)
        traced = {line_of(node.source) for node in nodes.values()}
        away = [it for it in traces if it.call.source and line_of(it.call.source) not in traced]
        # Code whose results nothing uses is not another way: Dynamo may have traced it, and thrown it away.
        if not any(trace.call.id in live for trace in away):
            continue
        functions = {_function(trace.call.source) for trace in away}
        items = in_order(_items_of(result, compile_id, nodes, functions))
        for trace in away:
            trace.compile_id, trace.items, trace.by = compile_id, items, OTHER_WAY
            trace.certainty = "likely"


def graphs_around(traces: Iterable[OpTrace]) -> dict[int, str]:
    """Return {left op call: compile id} for untraced calls whose nearest traced ones, before and after, are of one graph."""
    in_turn = list(traces)
    before, after = dict(_nearest(in_turn)), dict(_nearest(reversed(in_turn)))
    found = {}
    for trace in in_turn:
        around = {before[trace.call.id], after[trace.call.id]} - {_NO_CALL}
        if not _is_traced(trace) and len(around) == 1 and None not in around:
            found[trace.call.id] = str(around.pop())
    return found


def _nearest(traces: Iterable[OpTrace]) -> Iterator[tuple[int, str | None]]:
    nearest: str | None = _NO_CALL
    for trace in traces:
        if _is_traced(trace):
            nearest = trace.compile_id
        yield trace.call.id, nearest


def _is_traced(trace: OpTrace) -> bool:
    return bool(trace.by) or trace.compile_id is not None or trace.kept is not None


def untraced_runs(result: Alignment) -> list[tuple[str, list[OpTrace]]]:
    """Return, with its graph, each run of untraced op calls that lies in one graph; all calls where none was traced."""
    return _runs_inside(result.traces) or _all_of_one_graph(result)


def _runs_inside(traces: list[OpTrace]) -> list[tuple[str, list[OpTrace]]]:
    inside = graphs_around(traces)
    runs: list[tuple[str, list[OpTrace]]] = []
    open_run = False
    for trace in traces:
        compile_id = inside.get(trace.call.id)
        if compile_id is None:
            open_run = False
        elif open_run and runs[-1][0] == compile_id:
            runs[-1][1].append(trace)
        else:
            runs.append((compile_id, [trace]))
            open_run = True
    return runs


def _all_of_one_graph(result: Alignment) -> list[tuple[str, list[OpTrace]]]:
    """Return all op calls as one run where none was traced and the compiled function is one graph and no more."""
    compiler = result.right.compiler
    graphs = {call.compile_id for call in compiler.attributed} if compiler else set()
    only = graphs.pop() if len(graphs) == 1 else None
    if only is None or any(map(_is_traced, result.traces)):
        return []
    return [(only, result.traces)]


def dynamo_nodes(result: Alignment, compile_id: str) -> dict[str, GraphNode]:
    """Return {name: node} of the Dynamo graph of a compilation, in its order."""
    graphs = result.right.compiler.graphs if result.right.compiler else ()
    return {
        node.name: node
        for graph in graphs
        if graph.compile_id == compile_id and graph.dynamo
        for node in graph.dynamo.nodes
    }


def _items_of(
    result: Alignment, compile_id: str, nodes: dict[str, GraphNode], functions: set[_Function]
) -> Iterator[str]:
    """Yield the right items that compute a Dynamo node of these functions which no left op call was traced to.

    In torch's own code, such as an optimizer's step, op calls stand on the user's line and nodes on torch's.
    """
    named = [(name, node.source) for name, node in nodes.items() if node.source]
    own = {name for name, source in named if _function(source) in functions}
    own = own or {name for name, source in named if not is_user_file(source.file)}
    yield from items_of_nodes(result, compile_id, own - traced_nodes(result, compile_id))


def traced_nodes(result: Alignment, compile_id: str) -> set[str]:
    """Return the names of the nodes of a Dynamo graph that left op calls were traced to."""
    return {
        it.dynamo_node for it in result.traces if it.compile_id == compile_id and it.dynamo_node
    }


def items_of_nodes(result: Alignment, compile_id: str, own: set[str]) -> Iterator[str]:
    """Yield the right items that compute any of these nodes of a Dynamo graph. Other graphs have nodes of the same names."""
    graphs = result.right.compiler.graphs if result.right.compiler else ()
    ids = {graph.id for graph in graphs if graph.compile_id == compile_id}
    for item, refs in result.item_nodes.items():
        if any(ref.graph in ids and own.intersection(_origins(result, ref)) for ref in refs):
            yield item


def _origins(result: Alignment, ref: NodeRef) -> tuple[str, ...]:
    node = result.lineage.nodes.get(ref)
    return node.dynamo_nodes if node else ()


def line_of(source: SourceLocation | None) -> tuple[str, int]:
    """Return file and line of a place, ("", 0) where it is not known."""
    return (source.file, source.line) if source else ("", 0)


def _function(source: SourceLocation | None) -> _Function:
    return (source.file, source.function) if source else ("", "")
