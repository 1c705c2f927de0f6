"""The profiler pass. In: a step, and the op calls that the dispatch pass saw. Out: their chains, launches and kernels.

The profiler sees composite ops, inner ops, launches and kernels, but no tensors; the dispatch pass sees tensors. Both run
the same step, so the op calls are found again in the trace by name and order.
"""

import re
import tempfile
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import msgspec
import torch
from torch.profiler import ProfilerActivity, profile, record_function, schedule

from compdiff import kineto
from compdiff.compile_log import GraphRun, same_op
from compdiff.kineto import Event
from compdiff.kineto.regions import graph_calls
from compdiff.model import (
    CaptureWarning,
    CompiledGraph,
    Kernel,
    Launch,
    OpCall,
    OpStat,
    WrapperCall,
)

# What generated C++ functions call themselves; templates (attention, products) have no name yet when their code is written.
# Source: torch/_inductor/codegen/cpp.py and cpp_template_kernel.py: maybe_codegen_profile (torch 2.14).
_CPP_KERNEL = re.compile(r"^(?:graph_\d+_)?(?P<name>cpp_\w+|(?<=_)kernel)$")


# The event around each node that autograd's engine runs. Source: torch/csrc/autograd/engine.cpp: evaluate_function (2.14).
_ENGINE = "autograd::engine::evaluate_function"


@dataclass
class Profile:
    """What the profiler pass adds: op calls with chain, place and time; launches; kernels; wall time of the step."""

    op_calls: list[OpCall] = field(default_factory=list)
    launches: list[Launch] = field(default_factory=list)
    kernels: list[Kernel] = field(default_factory=list)
    start_ns: int | None = None
    wall_ns: int = 0
    op_stats: tuple[OpStat, ...] = ()
    warnings: list[CaptureWarning] = field(default_factory=list)


@dataclass(kw_only=True)
class _GraphRun(GraphRun):
    """One run of a compiled graph within the step, with the event of it."""

    event: Event


def trace(step: Callable[[], object], *, cuda: bool, steps: int = 1) -> list[Event]:
    """Run `step` under the profiler, once to warm it up and then `steps` times; return the events of these."""
    activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if cuda else [])
    with tempfile.TemporaryDirectory(prefix="compdiff-") as folder:
        path = Path(folder) / "trace.json"
        with profile(
            activities=activities,
            schedule=schedule(wait=0, warmup=1, active=steps, repeat=1),
            on_trace_ready=lambda done: done.export_chrome_trace(str(path)),
            acc_events=True,
        ) as profiler:
            for _ in range(1 + steps):
                with record_function(kineto.STEP_NAME):
                    step()
                    if cuda:
                        torch.cuda.synchronize()
                profiler.step()
        return kineto.decode(path.read_bytes())


def merge(
    op_calls: Sequence[OpCall], events: Sequence[Event], graphs: Sequence[CompiledGraph] = ()
) -> Profile:
    """Find the op calls of the dispatch pass in the trace of the same step, and its kernels and launches.

    A view that the dispatch pass saw and the profiler did not is an artefact of the dispatch mode (autograd detaches
    saved tensors through it): it is left out, and the calls are numbered anew.
    """
    step = next((event for event in events if event.name == kineto.STEP_NAME), None)
    if step is None:
        text = "the profiler recorded no step: chains, kernels and profiled times are missing"
        return Profile(
            op_calls=list(op_calls), warnings=[CaptureWarning(id="no-profile", text=text)]
        )
    host = [event for event in events if event.category not in kineto.DEVICE_CATEGORIES]
    host = [
        event
        for event in host
        if step.start_ns <= event.start_ns < step.end_ns and event is not step
    ]
    place, missing = match_op_calls(op_calls, host)
    kept = [call for call in op_calls if call.id in place or not _is_artefact(call)]
    owner = {
        id(host[place[call.id]]): number for number, call in enumerate(kept) if call.id in place
    }
    runs = _graph_runs(host, graphs)
    result = Profile(start_ns=step.start_ns, wall_ns=step.duration_ns)
    result.op_calls = [
        msgspec.structs.replace(
            call,
            id=number,
            name=_name(call, host[place[call.id]]) if call.id in place else call.name,
        )
        for number, call in enumerate(kept)
    ]
    _place_host_items(result, host, owner, runs)
    _place_unprofiled(result, owner, runs)
    _add_device_items(result, host, events, owner, runs)
    unexpected = sorted({call.name for call in missing if not _is_artefact(call)})
    if unexpected:
        count = sum(not _is_artefact(call) for call in missing)
        text = f"{count} of {len(op_calls)} op calls were not found in the profile: {', '.join(unexpected[:5])}"
        result.warnings.append(CaptureWarning(id="profile-mismatch", text=text))
    return result


def match_op_calls(
    op_calls: Sequence[OpCall], host: Sequence[Event]
) -> tuple[dict[int, int], list[OpCall]]:
    """Return {op call id: index in host} and the op calls not found; `host` is in start order.

    Each call takes the next event of its name after the one before; what is nested in a taken event is its inner work, and
    what autograd's engine runs belongs to no call of the forward pass.
    A call whose next event lies behind events of the calls that follow it is not in the trace.
    """
    search = _Search(host)
    place: dict[int, int] = {}
    missing = []
    for number, call in enumerate(op_calls):
        found = search.next_place(call)
        if found is None or search.skips(found, op_calls[number + 1 : number + 4]):
            missing.append(call)
            continue
        search.take(found)
        place[call.id] = found
    return place, missing


class _Search:
    """A walk through host events in start order that takes one event after another."""

    def __init__(self, host: Sequence[Event]) -> None:
        self._host = host
        self._places: dict[str, list[int]] = defaultdict(list)
        for index, event in enumerate(host):
            self._places[event.name].append(index)
        self._taken: set[int] = set()
        self._at = 0

    def next_place(self, call: OpCall) -> int | None:
        """Return the index of the next event that may be the call's and is not inside a taken one."""
        found = (self._next_of(name, call) for name in profiled_names(call))
        return min((index for index in found if index is not None), default=None)

    def skips(self, found: int, following: Sequence[OpCall]) -> bool:
        """Return whether a call that follows has its event before `found`, other than around it."""
        around = {id(outer) for outer in self._host[found].ancestors()}
        others = (self.next_place(call) for call in following)
        return any(
            other is not None and other < found and id(self._host[other]) not in around
            for other in others
        )

    def take(self, found: int) -> None:
        """Take the event at `found` and go on behind it."""
        self._taken.add(id(self._host[found]))
        self._at = found + 1

    def _next_of(self, name: str, call: OpCall) -> int | None:
        candidates = self._places.get(name, [])
        for index in candidates[bisect_left(candidates, self._at) :]:
            around = self._host[index].ancestors()
            if _may_be_in(call, around) and not any(id(outer) in self._taken for outer in around):
                return index
        return None


def _may_be_in(call: OpCall, around: Sequence[Event]) -> bool:
    """Return whether a call may have an event within these: by autograd's node, for what a dispatch mode adds to others."""
    engine = next((outer.name for outer in around if outer.name.startswith(_ENGINE)), "")
    if call.phase == "forward":
        return not engine
    return not _is_artefact(call) or not engine or engine == f"{_ENGINE}: {call.autograd_node}"


# Names under which an unobserved step makes calls that look otherwise while a dispatch mode watches: autograd adds up
# gradients in place where it can, and reshape makes its view by another op.
# Source: torch/csrc/autograd/input_buffer.cpp, aten/src/ATen/native/TensorShape.cpp: reshape_symint (torch 2.13).
_UNOBSERVED_NAMES = {
    ("backward", "aten::add"): "aten::add_",
    ("forward", "aten::view"): "aten::_reshape_alias",
    ("backward", "aten::view"): "aten::_reshape_alias",
}


def profiled_names(call: OpCall) -> tuple[str, ...]:
    """Return the names under which an unobserved step may make this call."""
    other = _UNOBSERVED_NAMES.get((call.phase, call.name))
    return (call.name,) if other is None else (call.name, other)


def _name(call: OpCall, event: Event) -> str:
    """Return the op that an unobserved step calls: in place where the profiler saw that; a view by its usual name."""
    return event.name if event.name == f"{call.name}_" else call.name


def _is_artefact(call: OpCall) -> bool:
    """Return whether the call gives back the storage it was given and computes nothing."""
    return call.name in {"aten::detach", "aten::alias"}


def _graph_runs(host: Sequence[Event], graphs: Sequence[CompiledGraph]) -> dict[int, _GraphRun]:
    """Return {id(event): graph run} for each call of a compiled graph in the step."""
    forward = {graph.compile_id: graph for graph in graphs if graph.direction != "backward"}
    backward = {graph.compile_id: graph for graph in graphs if graph.direction == "backward"}
    runs: dict[int, _GraphRun] = {}
    for event, region, is_backward in graph_calls(host):
        graph = (backward if is_backward else forward).get(region)
        if graph is not None:
            runs[id(event)] = _GraphRun(event=event, graph=graph)
    return runs


def _place_host_items(
    result: Profile, host: Sequence[Event], owner: dict[int, int], runs: dict[int, _GraphRun]
) -> None:
    """Give each matched op call its chain, inner ops, time and wrapper call; collect the generated C++ kernels."""
    threads = kineto.thread_numbers(host)
    for event in host:
        call_id = owner.get(id(event))
        run = _enclosing_run(event, runs)
        cpp = _CPP_KERNEL.match(event.name)
        if call_id is not None:
            result.op_calls[call_id] = _placed(
                result.op_calls[call_id], event, run, threads[event.thread]
            )
        elif cpp is not None:
            index = None if run is None else run.take(partial(_is_call_of, event.name, cpp["name"]))
            name = cpp["name"] if run is None or index is None else run.graph.calls[index].name
            result.kernels.append(
                Kernel(
                    id=len(result.kernels),
                    name=name,
                    kind="cpp",
                    graph=None if run is None else run.graph.id,
                    call=index,
                    start_ns=event.start_ns,
                    duration_ns=event.duration_ns,
                )
            )


def _place_unprofiled(result: Profile, owner: dict[int, int], runs: dict[int, _GraphRun]) -> None:
    """Tie op calls that the profiler does not record, as those of custom ops in Python, to the wrapper calls left over.

    Where there are more calls or fewer than such wrapper calls, nothing tells which of them belong together.
    """
    profiled = set(owner.values())
    missing = defaultdict[str, list[int]](list)
    for call in result.op_calls:
        if call.id not in profiled:
            missing[call.name].append(call.id)
    for name, calls in missing.items():
        left = [
            (run, wrapper)
            for run in runs.values()
            for wrapper in run.graph.calls
            if wrapper.index not in run.seen and same_op(wrapper, name)
        ]
        if len(left) != len(calls):
            continue
        for call_id, (run, wrapper) in zip(calls, left, strict=True):
            run.seen.add(wrapper.index)
            result.op_calls[call_id] = msgspec.structs.replace(
                result.op_calls[call_id], graph=run.graph.id, call=wrapper.index
            )


def _is_call_of(recorded: str, name: str, call: WrapperCall) -> bool:
    """Return whether the function that a wrapper call names is the one that `recorded` itself."""
    return call.name == name or f'"{recorded}"' in call.code


def _placed(call: OpCall, event: Event, run: _GraphRun | None, thread: int) -> OpCall:
    index = None if run is None else run.take(lambda wrapper: same_op(wrapper, call.name))
    return msgspec.structs.replace(
        call,
        chain=tuple(outer.name for outer in reversed(event.ancestors()) if _is_composite(outer)),
        annotations=kineto.annotations_around(event),
        inner=tuple(inner.name for inner in event.descendants() if _is_composite(inner)),
        graph=None if run is None else run.graph.id,
        call=index,
        start_ns=event.start_ns,
        duration_ns=event.duration_ns,
        self_ns=kineto.self_ns(event),
        thread=thread,
    )


def _is_composite(event: Event) -> bool:
    return event.category == "cpu_op" and "::" in event.name and "autograd::" not in event.name


def _enclosing_run(event: Event, runs: dict[int, _GraphRun]) -> _GraphRun | None:
    return next((runs[id(outer)] for outer in event.ancestors() if id(outer) in runs), None)


def _add_device_items(
    result: Profile,
    host: Sequence[Event],
    events: Sequence[Event],
    owner: dict[int, int],
    runs: dict[int, _GraphRun],
) -> None:
    """Add launches, and the kernels they made by correlation; device work without a launch in the step is counted."""
    launches: dict[int, tuple[Launch, Event]] = {}
    threads = kineto.thread_numbers(host)
    device_ns = Counter[int]()
    for event in host:
        correlation = event.correlation
        if event.category in kineto.LAUNCH_CATEGORIES and correlation is not None:
            op_call = next(
                (owner[id(outer)] for outer in event.ancestors() if id(outer) in owner), None
            )
            launch = Launch(
                id=len(result.launches),
                name=event.name,
                op_call=op_call,
                start_ns=event.start_ns,
                duration_ns=event.duration_ns,
                correlation=correlation,
                thread=threads[event.thread],
            )
            result.launches.append(launch)
            launches[correlation] = launch, event
    device = [event for event in events if event.category in kineto.DEVICE_CATEGORIES]
    orphans = []
    for event in device:
        found = launches.get(event.correlation) if event.correlation is not None else None
        if found is None:
            orphans.append(event.name)
            continue
        device_ns[id(found[1])] += event.duration_ns
        run = _enclosing_run(found[1], runs)
        result.kernels.append(_device_kernel(len(result.kernels), event, found[0], run))
    result.op_stats = kineto.op_stats(host, device_ns)
    if orphans:
        text = f"{len(orphans)} kernels have no launch in the profiled step and are left out: {', '.join(orphans[:3])}"
        result.warnings.append(CaptureWarning(id="kernel-without-launch", text=text))


def _device_kernel(number: int, event: Event, launch: Launch, run: _GraphRun | None) -> Kernel:
    kinds = {"gpu_memcpy": "memcpy", "gpu_memset": "memset"}
    kind = kinds.get(event.category, "triton" if event.name.startswith("triton_") else "library")
    index = None
    if run is not None and launch.op_call is None:
        index = run.take(lambda call: call.kind == "triton" and call.name == event.name)
    arguments = event.arguments
    return Kernel(
        id=number,
        name=event.name,
        kind=kind,
        op_call=launch.op_call,
        launch=launch.id,
        graph=None if run is None else run.graph.id,
        call=index,
        start_ns=event.start_ns,
        duration_ns=event.duration_ns,
        stream=_int(arguments.get("stream")),
        grid=_ints(arguments.get("grid")),
        block=_ints(arguments.get("block")),
        registers=_int(arguments.get("registers per thread")),
        shared_bytes=_int(arguments.get("shared memory")),
    )


def _int(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _ints(value: object) -> tuple[int, ...]:
    return tuple(item for item in value if isinstance(item, int)) if isinstance(value, list) else ()
