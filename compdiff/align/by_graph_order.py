"""Finds the joint nodes of left op calls where no attribution pass ran. In: traces, the graphs of a log. Out: joint nodes.

The next-best link: Dynamo traced the function in the order in which eager mode runs it, and AOTAutograd its backward in
that of autograd. The left op calls are laid over the Dynamo nodes, and the backward ones over the backward nodes of the
joint graph, by name and order. Such a link is `likely`, never `certain`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from compdiff.align.joint_nodes import runs
from compdiff.align.op_names import functional_name, is_view_name
from compdiff.align.sequence import common_pairs
from compdiff.align.traces import Alignment, OpTrace, hands_over_a_gradient
from compdiff.model import Capture, CompiledGraph, Compiler, GraphNode

BY_ORDER = "order of the op calls and of the logged graph's nodes"
# Names of one thing: of Python's operators and methods, and of the ops that they call.
_SAME = {
    "and_": "bitwise_and",
    "bfloat16": "to",
    "cross_entropy": "cross_entropy_loss",
    "double": "to",
    "float": "to",
    "half": "to",
    "iadd": "add",
    "idiv": "div",
    "imul": "mul",
    "invert": "bitwise_not",
    "isub": "sub",
    "itruediv": "div",
    "or_": "bitwise_or",
    "transpose": "t",
    "true_divide": "div",
    "truediv": "div",
    "type": "to",
    "xor": "bitwise_xor",
}
# Ops that make tensors from numbers, as the joint graph has them.
_DECOMPOSED = {"arange": "iota", "full_like": "full", "ones": "full", "zeros": "full"}
# Views as the joint graph has them. Source: torch/_decomp/decompositions.py, torch/_inductor/decomposition.py (torch 2.14).
_VIEW_OPS = frozenset({"alias", "as_strided", "detach", "expand", "getitem", "permute", "reshape"})
_VIEW_KINDS = {
    "_reshape_alias": "view",
    "_unsafe_view": "view",
    "reshape": "view",
    "t": "permute",
    "transpose": "permute",
}


@dataclass
class _Unit:
    """A Dynamo node with the joint nodes that it became, or one joint node by itself."""

    name: str
    node: str | None
    nodes: list[GraphNode]


@dataclass
class _Instance:
    """The left op calls of one call in Python: those of one composite op, or one alone."""

    name: str
    traces: list[OpTrace] = field(default_factory=list)

    def only_views(self) -> bool:
        """Return whether nothing in it computes."""
        return all(is_view_name(trace.call.name) for trace in self.traces)


def find_joint_nodes_by_order(result: Alignment, compiler: Compiler) -> None:
    """Give the left op calls that ran inside the graphs their joint nodes, by name and order."""
    ran = list(graphs_that_ran(result.right, compiler))
    outside = {call.name for call in result.right.op_calls if call.graph is None}
    forward = [trace for trace in result.traces if trace.call.phase == "forward"]
    backward = [
        trace
        for trace in result.traces
        if trace.call.phase == "backward" and not hands_over_a_gradient(trace.call)
    ]
    units = [
        (graph.compile_id, unit)
        for graph in ran
        if graph.direction != "backward"
        for unit in _dynamo_units(result, graph, compiler)
    ]
    _lay_forward(_instances(forward), units, outside)
    nodes = [
        (graph.compile_id, node)
        for graph in ran
        if graph.direction == "backward"
        for node in result.lineage.frames[graph.compile_id].joint
        if node.backward and node.op == "call_function" and not _is_view(node)
    ]
    _lay_backward(backward, nodes, outside)


# ---------------------------------------------------------------- which graphs


def graphs_that_ran(right: Capture, compiler: Compiler) -> Iterator[CompiledGraph]:
    """Yield the graphs in the order in which they ran, one that ran twice twice.

    A graph of which nothing is seen on the right ran at its place, unless the same frame ran in another compilation.
    """
    seen = _seen(right)
    frames = {graph.compile_id.partition("/")[0] for graph in compiler.graphs if graph.id in seen}
    unseen = [
        graph
        for graph in compiler.graphs
        if graph.id not in seen and graph.compile_id.partition("/")[0] not in frames
    ]
    by_id = {graph.id: graph for graph in compiler.graphs}
    for number in seen:
        while unseen and unseen[0].id < number:
            yield unseen.pop(0)
        yield by_id[number]
    yield from unseen


def _seen(right: Capture) -> list[int]:
    """Return the ids of the graphs whose calls are seen, in order; a call that comes again begins another run."""
    made = {f"o{call.id}": call for call in right.op_calls} | {
        f"k{kernel.id}": kernel for kernel in right.kernels if kernel.op_call is None
    }
    found: list[int] = []
    calls: dict[int, set[int]] = {}
    for item in (made[place] for place in right.call_order if place in made):
        if item.graph is None or item.call is None:
            continue
        if item.graph not in calls or item.call in calls[item.graph]:
            found.append(item.graph)
            calls[item.graph] = set()
        calls[item.graph].add(item.call)
    return found


def _dynamo_units(result: Alignment, graph: CompiledGraph, compiler: Compiler) -> Iterator[_Unit]:
    """Yield the Dynamo nodes of a graph with their joint nodes; without a Dynamo graph, each joint node by itself."""
    joint = [
        node
        for node in result.lineage.frames[graph.compile_id].joint
        if not node.backward and node.op == "call_function"
    ]
    dynamo = next(
        (
            one.dynamo.nodes
            for one in compiler.graphs
            if one.dynamo is not None and one.compile_id == graph.compile_id
        ),
        (),
    )
    if not any(node.dynamo_nodes for node in joint):
        yield from (_Unit(_op_of(node), None, [node]) for node in joint)
        return
    for call in dynamo:
        if call.op.startswith("call_"):
            nodes = [node for node in joint if call.name in node.dynamo_nodes]
            yield _Unit(_same(call.target.rpartition(".")[2]), call.name, nodes)


def _instances(traces: Sequence[OpTrace]) -> list[_Instance]:
    """Return the calls of one composite op together; where its first op comes again, another one begins.

    Views alone are the beginning of the next call of the same composite op, if there is one that computes.
    """
    found: list[_Instance] = []
    for trace in traces:
        chain = trace.call.chain
        name = _same(functional_name(chain[0] if chain else trace.call.name))
        last = found[-1] if found else None
        if last is not None and _goes_on(last, name, trace):
            last.traces.append(trace)
        else:
            found.append(_Instance(name, [trace]))
    whole: list[_Instance] = []
    for one in reversed(found):
        following = whole[-1] if whole else None
        chained = one.traces[0].call.chain and one.only_views()
        if (
            following is not None
            and chained
            and following.name == one.name
            and not following.only_views()
        ):
            following.traces[:0] = one.traces
        else:
            whole.append(one)
    return whole[::-1]


def _goes_on(last: _Instance, name: str, trace: OpTrace) -> bool:
    """Return whether a call may be one more of the same composite op."""
    first, chain = last.traces[0].call, trace.call.chain
    same = bool(chain) and last.name == name and first.chain[:1] == chain[:1]
    return same and first.name != trace.call.name


# ---------------------------------------------------------------- forward


def _lay_forward(
    left: Sequence[_Instance], units: Sequence[tuple[str, _Unit]], outside: set[str]
) -> None:
    """Pair instances and units of one name in order; what lies between two pairs on both sides belongs together."""
    pairs = common_pairs([one.name for one in left], [unit.name for _, unit in units])
    for index, other in pairs:
        _give(left[index].traces, *_one(units[other]))
    last = (-1, -1)
    for index, other in [*pairs, (len(left), len(units))]:
        calls = list(left[last[0] + 1 : index])
        if last[0] >= 0:
            calls = _joined(left[last[0]], units[last[1]], calls, outside)
        if index < len(left):
            calls = _joined(left[index], units[other], calls[::-1], outside)[::-1]
        _share(calls, list(units[last[1] + 1 : other]), outside)
        last = index, other


def _joined(
    pair: _Instance, unit: tuple[str, _Unit], calls: Sequence[_Instance], outside: set[str]
) -> list[_Instance]:
    """Give the unit that was paired the nearest calls that belong to it; return the others.

    They go on in the same composite op, or Dynamo traced them as a part of the unit: it has nodes of their ops.
    """
    names = {_op_of(node) for node in unit[1].nodes} - {_op_of(node) for node in unit[1].nodes[-1:]}
    more = []
    for one in calls:
        same = one.name == pair.name and bool(one.traces[0].call.chain)
        part = all(_same_op(trace) in names for trace in one.traces)
        if not same and (not part or any(trace.call.name in outside for trace in one.traces)):
            break
        more.append(one)
    if more:
        traces = [*pair.traces, *(trace for one in more for trace in one.traces)]
        pair.traces[:] = sorted(traces, key=lambda trace: trace.call.id)
        _give(pair.traces, *_one(unit))
    return list(calls[len(more) :])


def _same_op(trace: OpTrace) -> str:
    """Return the op of a call as a joint graph has it."""
    base = functional_name(trace.call.name)
    return _DECOMPOSED.get(base, base)


def _share(
    calls: Sequence[_Instance], free: Sequence[tuple[str, _Unit]], outside: set[str]
) -> None:
    calls = [one for one in calls if any(t.call.name not in outside for t in one.traces)]
    if len(calls) == len(free):
        for one, unit in zip(calls, free, strict=True):
            _give(one.traces, *_one(unit))
    elif calls and free:
        nodes = [node for _, unit in free for node in unit.nodes]
        traces = [trace for one in calls for trace in one.traces]
        _give(traces, free[0][0], free[0][1].node, nodes)


def _one(unit: tuple[str, _Unit]) -> tuple[str, str | None, list[GraphNode]]:
    compile_id, found = unit
    return compile_id, found.node, found.nodes


def _give(
    traces: Sequence[OpTrace], compile_id: str, node: str | None, nodes: Sequence[GraphNode]
) -> None:
    """Share out the nodes of one unit among its calls: views to views, an op to its name, the rest to calls without any."""
    for trace in traces:
        trace.compile_id, trace.dynamo_node = compile_id, node
        trace.certainty, trace.by, trace.joint = "likely", BY_ORDER, []
    views = [trace for trace in traces if is_view_name(trace.call.name)]
    computing = [trace for trace in traces if trace not in views]
    if not computing:
        for trace in views:
            trace.joint = list(nodes)
        return
    _give_views(views, [one for one in nodes if _is_view(one)])
    rest = [one for one in nodes if not _is_view(one)]
    for name in dict.fromkeys(functional_name(trace.call.name) for trace in computing):
        group = [trace for trace in computing if functional_name(trace.call.name) == name]
        own = [one for one in rest if _op_of(one) == name]
        rest = [one for one in rest if one not in own]
        for trace, part in zip(group, runs(own, len(group)) if own else [], strict=False):
            trace.joint = part
    without = [trace for trace in computing if not trace.joint]
    for trace, part in zip(without, runs(rest, len(without)), strict=True):
        trace.joint = part
    if rest and not without:
        computing[-1].joint = [*computing[-1].joint, *rest]


def _give_views(views: Sequence[OpTrace], nodes: Sequence[GraphNode]) -> None:
    """Give each view the next node that makes a view of its kind."""
    waiting = list(nodes)
    for trace in views:
        kind = _kind_of_view(functional_name(trace.call.name))
        found = next((one for one in waiting if _kind_of_view(_op_of(one)) == kind), None)
        if found is not None:
            waiting.remove(found)
            trace.joint = [found]


def _kind_of_view(op: str) -> str:
    return _VIEW_KINDS.get(op, op)


# ---------------------------------------------------------------- backward


def _lay_backward(
    traces: Sequence[OpTrace], nodes: Sequence[tuple[str, GraphNode]], outside: set[str]
) -> None:
    """Pair backward calls and nodes of one op in order; the nodes between two pairs belong to the calls between them."""
    if not nodes:
        return
    computing = [trace for trace in traces if not is_view_name(trace.call.name)]
    pairs = common_pairs(
        [functional_name(trace.call.name) for trace in computing],
        [_op_of(node) for _, node in nodes],
    )
    for index, other in pairs:
        _give([computing[index]], nodes[other][0], None, [nodes[other][1]])
    last = (-1, -1)
    for index, other in [*pairs, (len(computing), len(nodes))]:
        calls = [one for one in computing[last[0] + 1 : index] if one.call.name not in outside]
        free = nodes[last[1] + 1 : other]
        if calls and free:
            _give(calls, free[0][0], None, [node for _, node in free])
        elif free and last[0] >= 0:
            before = computing[last[0]]
            before.joint = [*before.joint, *(node for _, node in free)]
        last = index, other
    _place_views(traces, nodes[0][0], outside)


def _place_views(traces: Sequence[OpTrace], compile_id: str, outside: set[str]) -> None:
    """Let a backward view be in the graph of the call before it."""
    for trace in traces:
        if trace.compile_id is not None:
            compile_id = trace.compile_id
        elif is_view_name(trace.call.name) and trace.call.name not in outside:
            trace.compile_id, trace.by, trace.certainty = compile_id, BY_ORDER, "likely"


# ---------------------------------------------------------------- names


def _same(name: str) -> str:
    name = name if name in _SAME or name.startswith("_") else name.rstrip("_")
    return _SAME.get(name, name)


def _op_of(node: GraphNode) -> str:
    parts = node.target.split(".")
    return parts[1] if len(parts) > 1 else node.target


def _is_view(node: GraphNode) -> bool:
    op = _op_of(node)
    return op in _VIEW_OPS or is_view_name(f"aten::{op}")
