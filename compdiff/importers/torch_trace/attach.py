"""Ties a capture to its compiler's account. In: a capture, a log, the trace's host events. Out: the capture with both.

The trace says which compiled graph ran when (`Torch-Compiled Region: 0/0`, `## Call CompiledFxGraph`); within one run of
a graph, kernels and op calls are its wrapper's calls by name and order.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from compdiff.compile_log import GraphRun, same_op
from compdiff.importers.steps import Window
from compdiff.importers.torch_trace.read import CompilerLog
from compdiff.kineto import DEVICE_CATEGORIES, Event
from compdiff.kineto.regions import BACKWARD, REGION, graph_calls, is_graph_call, region_of
from compdiff.model import (
    GENERATED,
    Capture,
    CaptureWarning,
    CompiledGraph,
    Kernel,
    OpCall,
)


@dataclass(kw_only=True)
class _GraphRun(GraphRun):
    """One run of a compiled graph, from `start_ns` to `end_ns` of the window."""

    start_ns: int
    end_ns: int


def attach(capture: Capture, log: CompilerLog, events: Sequence[Event], window: Window) -> Capture:
    """Return the capture with the compiler's account, its op calls and kernels tied to graphs and wrapper calls."""
    host = [event for event in window.part(events) if event.category not in DEVICE_CATEGORIES]
    runs = _graph_runs(host, log.compiler.graphs, window)
    starts = {launch.id: launch.start_ns for launch in capture.launches}
    op_calls = tuple(_placed(call, runs) for call in capture.op_calls)
    kernels = tuple(_placed_kernel(kernel, runs, op_calls, starts) for kernel in capture.kernels)
    return msgspec.structs.replace(
        capture,
        compiler=log.compiler,
        op_calls=op_calls,
        kernels=kernels,
        warnings=(
            *capture.warnings,
            *log.warnings,
            *_warnings(host, log.compiler.graphs, kernels),
            *_without_kernels(runs, kernels),
        ),
    )


# ---------------------------------------------------------------- which graph ran when


def _graph_runs(
    host: Sequence[Event], graphs: Sequence[CompiledGraph], window: Window
) -> list[_GraphRun]:
    """Return the runs of graphs in a window; of a trace that names none, one run of each graph over the whole window."""
    forward = {graph.compile_id: graph for graph in graphs if graph.direction != "backward"}
    backward = {graph.compile_id: graph for graph in graphs if graph.direction == "backward"}
    found = []
    marked = any(map(is_graph_call, host))
    for event, region, is_backward in graph_calls(host, is_graph_call if marked else _is_call):
        graph = (backward if is_backward else forward).get(region)
        if graph is not None:
            start = event.start_ns - window.start_ns
            end = start + event.duration_ns
            found.append(_GraphRun(graph=graph, start_ns=start, end_ns=end))
    if found or _regions(host):
        return found
    end = window.end_ns - window.start_ns
    return [_GraphRun(graph=graph, start_ns=0, end_ns=end) for graph in graphs]


def _is_call(event: Event) -> bool:
    """Return whether an event of an older trace is around the run of one graph."""
    return event.name == BACKWARD or event.name.startswith(REGION)


def _regions(host: Sequence[Event]) -> set[str]:
    """Return the compile ids of the compiled regions that ran; those of older traces have none."""
    return {region_of(event) for event in host if event.name.startswith(REGION)} - {""}


# ---------------------------------------------------------------- items


def _placed(call: OpCall, runs: Sequence[_GraphRun]) -> OpCall:
    """Return the op call with its graph and wrapper call; where several graphs may have made it, with those that name it."""
    around = list(_around(runs, call.start_ns or 0))
    for run in around:
        index = run.take(lambda wrapper: same_op(wrapper, call.name))
        if index is not None:
            return msgspec.structs.replace(call, graph=run.graph.id, call=index)
    only = around[0].graph.id if len(around) == 1 else None
    return msgspec.structs.replace(call, graph=only)


def _placed_kernel(
    kernel: Kernel,
    runs: Sequence[_GraphRun],
    op_calls: Sequence[OpCall],
    starts: Mapping[int, int],
) -> Kernel:
    """Return the kernel with its graph: that of the op call that launched it, or of the run in which it was launched."""
    if kernel.op_call is not None:
        return msgspec.structs.replace(kernel, graph=op_calls[kernel.op_call].graph)
    asked = kernel.start_ns if kernel.launch is None else starts[kernel.launch]
    around = list(_around(runs, asked))
    for run in around:
        index = run.take(lambda call: call.kind in GENERATED and call.name == kernel.name)
        if index is not None:
            return msgspec.structs.replace(kernel, graph=run.graph.id, call=index)
    return kernel


def _around(runs: Sequence[_GraphRun], time_ns: int) -> Iterator[_GraphRun]:
    return (run for run in runs if run.start_ns <= time_ns < run.end_ns)


# ---------------------------------------------------------------- what does not fit


def _warnings(
    host: Sequence[Event], graphs: Sequence[CompiledGraph], kernels: Sequence[Kernel]
) -> Iterator[CaptureWarning]:
    """Yield what tells that log and trace are not of one process, or that the log is not whole."""
    known = {graph.compile_id for graph in graphs}
    ran = _regions(host)
    if ran - known:
        text = f"the log has no graph of the compiled regions {', '.join(sorted(ran - known)[:5])}, which ran"
        yield CaptureWarning(id="region-not-in-log", text=text)
    generated = [kernel for kernel in kernels if kernel.kind in GENERATED]
    lost: dict[str, int] = defaultdict(int)
    for kernel in generated:
        lost[kernel.name] += kernel.call is None
    names = [name for name, count in lost.items() if count]
    if names:
        text = (
            f"{sum(lost.values()):,} of {len(generated):,} generated kernels are no call of a graph in the log: "
            f"{', '.join(names[:3])}"
        )
        yield CaptureWarning(id="kernel-not-in-log", text=text)


def _without_kernels(
    runs: Sequence[_GraphRun], kernels: Sequence[Kernel]
) -> Iterator[CaptureWarning]:
    """Yield that C++ kernels ran and the trace shows none: torch records them only when it is asked to."""
    written = sum(call.kind == "cpp" for run in runs for call in run.graph.calls)
    if written and not any(kernel.kind == "cpp" for kernel in kernels):
        text = (
            f"{written:,} calls of C++ kernels are not in the trace: "
            "set torch._inductor.config.cpp.enable_kernel_profile when recording"
        )
        yield CaptureWarning(id="cpp-kernels-not-profiled", text=text)
