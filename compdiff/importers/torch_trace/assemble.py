"""Compiled graphs from the records of compilations. In: frames. Out: CompiledGraph records with calls and pass events."""

from collections.abc import Iterable, Mapping

import msgspec

from compdiff.compile_log import wrapper_calls
from compdiff.importers.torch_trace.calls import call_nodes, fragments
from compdiff.importers.torch_trace.changes import graph_changes, merged
from compdiff.importers.torch_trace.frames import Frame, Lowered
from compdiff.importers.torch_trace.origins import with_origins
from compdiff.model import CompiledGraph, Graph, PassEvent


def compiled_graphs(
    frames: Mapping[str, Frame],
) -> tuple[tuple[CompiledGraph, ...], dict[str, int]]:
    """Return the graphs in the order in which they were compiled, and how many calls of each were found by names alone."""
    found: list[CompiledGraph] = []
    by_names: dict[str, int] = {}
    for frame in frames.values():
        joint = _joint(frame)
        shared = _joint_changes(frame, joint)
        if not frame.lowered and frame.dynamo is not None:
            found.append(
                CompiledGraph(
                    id=len(found),
                    compile_id=frame.compile_id,
                    direction="forward",
                    dynamo=frame.dynamo,
                    joint=joint,
                )
            )
        for number, lowered in enumerate(frame.lowered):
            graph, count = _graph(len(found), frame, lowered)
            if number == 0:
                graph = msgspec.structs.replace(
                    graph, dynamo=frame.dynamo, joint=joint, passes=(*shared, *graph.passes)
                )
            if count:
                by_names[f"{frame.compile_id} {lowered.direction}"] = count
            found.append(graph)
    return tuple(found), by_names


def _graph(number: int, frame: Frame, lowered: Lowered) -> tuple[CompiledGraph, int]:
    after = lowered.after
    kernels, count = call_nodes(lowered, after.nodes if after else ())
    calls, code = wrapper_calls(lowered.code, kernels)
    changes = graph_changes(lowered.before, after, "post_grad") if lowered.before and after else ()
    graph = CompiledGraph(
        id=number,
        compile_id=frame.compile_id,
        direction=lowered.direction or "forward",
        lowering_id=lowered.number,
        post_grad=_with_sources(after, _sources([lowered])),
        passes=changes,
        calls=calls,
        wrapper_code=code,
    )
    return graph, count


def _joint(frame: Frame) -> Graph | None:
    """Return the joint graph with the Dynamo nodes that its nodes came from; else the first that there is."""
    joint = frame.joint or next((one.before for one in frame.lowered if one.before), None)
    joint = joint or next((one.after for one in frame.lowered if one.after), None)
    if joint is None:
        return None
    dynamo = frame.dynamo.nodes if frame.dynamo else ()
    nodes = with_origins(joint.nodes, dynamo, _sources(frame.lowered))
    return Graph(stage="joint", nodes=nodes, code=joint.code)


def _sources(lowered: Iterable[Lowered]) -> dict[str, tuple[str, ...]]:
    """Return the Dynamo nodes of Inductor's nodes: from the mappings, and from the comments over generated kernels."""
    found: dict[str, tuple[str, ...]] = {}
    for one in lowered:
        for fragment in fragments(one.code).values():
            for source, names in fragment.sources.items():
                for name in names:
                    found.setdefault(name, ())
                    found[name] = tuple(dict.fromkeys((*found[name], source)))
    for one in lowered:
        found |= one.sources
    return found


def _with_sources(graph: Graph | None, sources: Mapping[str, tuple[str, ...]]) -> Graph | None:
    if graph is None:
        return None
    nodes = tuple(
        msgspec.structs.replace(node, dynamo_nodes=sources[node.name])
        if node.name in sources
        else node
        for node in graph.nodes
    )
    return msgspec.structs.replace(graph, nodes=nodes)


def _joint_changes(frame: Frame, joint: Graph | None) -> tuple[PassEvent, ...]:
    """Return what happened between the joint graph and the graphs that Inductor began with."""
    starts = [one.before or one.after for one in frame.lowered]
    known = [graph for graph in starts if graph is not None]
    if joint is None or not known or len(known) < len(starts):
        return ()
    needed = 2 if any(node.backward for node in joint.nodes) else 1
    if len(known) < needed and frame.backward is not None:
        known.append(frame.backward)  # its own lowering is not in the log
    return graph_changes(joint, merged(known), "joint") if len(known) >= needed else ()
