"""One trace as one side of a run. In: a Trace, a Window. Out: a Capture with basis `imported`.

A kernel belongs to the launch with its correlation, and that to the op call around it on its own thread. The "External id"
of a kernel is not read: for two years exporters wrote the correlation there, which looks like the id of some other op.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from compdiff.importers.ops import (
    autograd_node,
    generated_function,
    is_compile_phase,
    is_launcher,
    is_op,
    is_op_call,
    launches_beside_others,
    writes_in_place,
)
from compdiff.importers.sources import module_of, source_of
from compdiff.importers.steps import Window
from compdiff.importers.tensors import argument_text, input_tensors
from compdiff.kernels import replays_a_graph, runs_kernels
from compdiff.kineto import (
    DEVICE_CATEGORIES,
    LAUNCH_CATEGORIES,
    Event,
    Trace,
    annotations_around,
    op_stats,
    self_ns,
    thread_numbers,
)
from compdiff.model import Capture, CaptureWarning, Kernel, Launch, OpCall, Phase

_KINDS = {"gpu_memcpy": "memcpy", "gpu_memset": "memset"}
_ON_THREADS = frozenset({"cpu_op", *LAUNCH_CATEGORIES})
_SHOWN = 3


@dataclass
class _Host:
    """The host's events of a window by what they are.

    `owner` maps an event's identity to the op call that it is or lies in, `beside` that of a composite op to the op call
    which stands for what it launches itself.
    """

    threads: dict[tuple[str, str], int]
    op_calls: list[OpCall] = field(default_factory=list)
    launches: list[Launch] = field(default_factory=list)
    owner: dict[int, int] = field(default_factory=dict)
    beside: dict[int, int] = field(default_factory=dict)
    launchers: dict[int, Event] = field(default_factory=dict)
    functions: list[Event] = field(default_factory=list)
    by_correlation: dict[int, tuple[Launch, Event]] = field(default_factory=dict)
    shared: int = 0


def make_capture(trace: Trace, window: Window, label: str) -> Capture:
    """Return the part of a trace in a window as a capture. Times are those of the trace, in nanoseconds from its start."""
    device_events = [event for event in trace.events if event.category in DEVICE_CATEGORIES]
    device = "cuda:0" if trace.has_kernels or trace.devices else "cpu"
    start = window.start_ns
    host_events = [
        event for event in window.part(trace.events) if event.category not in DEVICE_CATEGORIES
    ]
    # Python frames stand on the threads of the ops they call; other things, such as overhead, on threads of their own.
    host = _Host(thread_numbers(event for event in host_events if event.category in _ON_THREADS))
    compiling = _compile_work(host_events)
    for event in host_events:
        if id(event) not in compiling:
            _add_host_event(host, event, device, start)
    everywhere = {
        event.correlation
        for event in trace.events
        if event.category in LAUNCH_CATEGORIES and event.correlation is not None
    }
    kernels, alone = _kernels(host, device_events, window, everywhere)
    return Capture(
        label=label,
        basis="imported",
        device=device,
        device_name=trace.devices[0] if trace.devices else "",
        op_calls=tuple(host.op_calls),
        launches=tuple(host.launches),
        kernels=tuple(kernels),
        call_order=_order(host, kernels),
        profile_start_ns=0,
        profile_wall_ns=window.end_ns - window.start_ns,
        op_stats=op_stats(host_events, _device_ns(host, kernels)),
        warnings=(
            *_warnings(trace, window, host, kernels, alone),
            *_left_out(compiling.values(), device_events),
        ),
    )


def _compile_work(events: Iterable[Event]) -> dict[int, Event]:
    """Return by identity what runs inside the phases of a compile: autotuning and constant folding launch kernels too."""
    found: dict[int, Event] = {}
    for event in events:
        parent = event.parent
        if parent is not None and (id(parent) in found or is_compile_phase(parent)):
            found[id(event)] = event
    return found


def _device_ns(host: _Host, kernels: Iterable[Kernel]) -> dict[int, int]:
    """Return the time of the kernels of each launch by the identity of its event."""
    launched = {launch.id: id(event) for launch, event in host.by_correlation.values()}
    found = Counter[int]()
    for kernel in kernels:
        if kernel.launch is not None:
            found[launched[kernel.launch]] += kernel.duration_ns
    return found


# ---------------------------------------------------------------- the host


def _add_host_event(host: _Host, event: Event, device: str, start: int) -> None:
    parent = event.parent
    owner = None if parent is None else host.owner.get(id(parent))
    launcher = None if parent is None else host.launchers.get(id(parent))
    if event.category in LAUNCH_CATEGORIES:
        beside = None if parent is None else host.beside.get(id(parent))
        _add_launch(host, event, beside if owner is None else owner, launcher, start)
        return
    if owner is None and launches_beside_others(event):
        host.beside[id(event)] = len(host.op_calls)
        host.op_calls.append(_op_call(host, event, device, start))
    elif owner is None and is_op_call(event):
        owner = len(host.op_calls)
        host.op_calls.append(_op_call(host, event, device, start))
    if is_launcher(event):
        launcher = event
    if generated_function(event):
        host.functions.append(event)
    if owner is not None:
        host.owner[id(event)] = owner
    if launcher is not None:
        host.launchers[id(event)] = launcher


def _add_launch(
    host: _Host, event: Event, owner: int | None, launcher: Event | None, start: int
) -> None:
    correlation = event.correlation
    launch = Launch(
        id=len(host.launches),
        name=event.name,
        op_call=owner,
        start_ns=event.start_ns - start,
        duration_ns=event.duration_ns,
        correlation=correlation or 0,
        thread=host.threads[event.thread],
        kernel=launcher.name if launcher is not None else "",
    )
    host.launches.append(launch)
    if correlation is None:
        return
    if correlation in host.by_correlation:
        host.shared += 1
    else:
        host.by_correlation[correlation] = launch, event


def _op_call(host: _Host, event: Event, device: str, start: int) -> OpCall:
    arguments = event.arguments
    outside = event.ancestors()
    running = [outer for outer in outside if autograd_node(outer)]
    phase: Phase = "backward" if running else "forward"
    # Grad mode is off in a backward: the node that runs has the number of the forward call, the ops it calls have none.
    numbered = running[0].arguments if running else arguments
    sequence = numbered.get("Sequence number")
    return OpCall(
        id=len(host.op_calls),
        name=event.name,
        overload="",
        inputs=input_tensors(arguments, device),
        arguments=argument_text(arguments),
        source=source_of(event),
        module=module_of(event),
        chain=tuple(outer.name for outer in reversed(outside) if is_op(outer)),
        annotations=annotations_around(event),
        inner=tuple(inner.name for inner in event.descendants() if is_op(inner)),
        phase=phase,
        autograd_node=autograd_node(running[0]) if running else "",
        sequence=sequence if isinstance(sequence, int) else -1,
        mutates=writes_in_place(event.name),
        start_ns=event.start_ns - start,
        duration_ns=event.duration_ns,
        self_ns=self_ns(event),
        thread=host.threads[event.thread],
    )


# ---------------------------------------------------------------- the device


def _kernels(
    host: _Host, events: Iterable[Event], window: Window, everywhere: set[int]
) -> tuple[list[Kernel], Counter[str]]:
    """Return the kernels of a window, and why some of them stand alone: their launch is not in the file, or not known."""
    kernels: list[Kernel] = []
    alone = Counter[str]()
    for event in events:
        correlation = event.correlation
        found = None if correlation is None else host.by_correlation.get(correlation)
        if found is None:
            if correlation in everywhere or not window.holds(event):
                continue  # launched in another step, or run in one
            alone["no correlation" if correlation is None else "no launch in the trace"] += 1
        kernels.append(_kernel(len(kernels), event, host, found, window.start_ns))
    kernels += [
        Kernel(
            id=len(kernels) + number,
            name=generated_function(event),
            kind="cpp",
            start_ns=event.start_ns - window.start_ns,
            duration_ns=event.duration_ns,
        )
        for number, event in enumerate(host.functions)
    ]
    return kernels, alone


def _kernel(
    number: int, event: Event, host: _Host, found: tuple[Launch, Event] | None, start: int
) -> Kernel:
    arguments = event.arguments
    launch, launching = found if found is not None else (None, None)
    parent = launching.parent if launching is not None else None
    launcher = None if parent is None else host.launchers.get(id(parent))
    generated = launcher is not None or event.name.startswith("triton_")
    kind = _KINDS.get(event.category, "triton" if generated else "library")
    # Early Triton kernels are all called `triton__0d1d2d`: the host's call of one has the name that says what it fuses.
    nameless = launcher is not None and event.name.startswith("triton__")
    return Kernel(
        id=number,
        name=launcher.name if nameless and launcher is not None else event.name,
        kind=kind,
        op_call=launch.op_call if launch is not None else None,
        launch=launch.id if launch is not None else None,
        start_ns=event.start_ns - start,
        duration_ns=event.duration_ns,
        stream=_int(arguments.get("stream")),
        grid=_ints(arguments.get("grid")),
        block=_ints(arguments.get("block")),
        registers=_int(arguments.get("registers per thread")),
        shared_bytes=_int(arguments.get("shared memory")),
    )


def _order(host: _Host, kernels: Sequence[Kernel]) -> tuple[str, ...]:
    """Return op calls and kernels in the order in which the host asked for them."""
    starts = [(call.start_ns or 0, 0, f"o{call.id}") for call in host.op_calls]
    starts += [
        (
            host.launches[kernel.launch].start_ns if kernel.launch is not None else kernel.start_ns,
            1,
            f"k{kernel.id}",
        )
        for kernel in kernels
    ]
    return tuple(item for _, _, item in sorted(starts, key=lambda entry: entry[:2]))


def _int(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _ints(value: object) -> tuple[int, ...]:
    return tuple(item for item in value if isinstance(item, int)) if isinstance(value, list) else ()


# ---------------------------------------------------------------- what was odd


def _left_out(events: Iterable[Event], device_events: Iterable[Event]) -> Iterable[CaptureWarning]:
    """Yield how much the compiler itself ran within the window."""
    inside = list(events)
    launched = {event.correlation for event in inside if event.category in LAUNCH_CATEGORIES}
    kernels = [event for event in device_events if event.correlation in launched - {None}]
    ops = sum(is_op(event) for event in inside)
    if kernels or ops:
        total = sum(event.duration_ns for event in kernels) / 1e6
        text = (
            f"{ops:,} ops and {len(kernels):,} kernels ({total:,.2f} ms) that torch ran while it compiled "
            "(tracing, folding, autotuning) are left out"
        )
        yield CaptureWarning(id="compile-work", text=text)


def _warnings(
    trace: Trace, window: Window, host: _Host, kernels: Sequence[Kernel], alone: Counter[str]
) -> Iterable[CaptureWarning]:
    """Yield what a reader must know of this trace, each with its count."""
    if window.note:
        yield CaptureWarning(id="window", text=f"shown is {window.note}")
    for what, count in sorted(trace.odd.items()):
        yield CaptureWarning(id="odd-trace", text=f"{count:,} {what}")
    for reason, count in sorted(alone.items()):
        text = f"{count:,} of {len(kernels):,} kernels stand alone: {reason}"
        yield CaptureWarning(id="kernel-without-launch", text=text)
    with_kernels = {kernel.launch for kernel in kernels}
    idle = [
        launch.name
        for launch in host.launches
        if launch.id not in with_kernels and runs_kernels(launch.name)
    ]
    if idle:
        shown = ", ".join(name for name, _ in Counter(idle).most_common(_SHOWN))
        text = f"{len(idle):,} launches have no kernel in the trace: {shown}"
        yield CaptureWarning(id="launch-without-kernel", text=text)
    if host.shared:
        text = f"{host.shared:,} launches have the correlation of an earlier one, which has the kernels"
        yield CaptureWarning(id="shared-correlation", text=text)
    replays = {launch.id for launch in host.launches if replays_a_graph(launch.name)}
    replayed = sum(kernel.launch in replays for kernel in kernels)
    if replayed:
        text = f"{replayed:,} kernels are replayed by {len(replays):,} launches of a CUDA graph: no op call launched them"
        yield CaptureWarning(id="graph-replay", text=text)
    if not kernels and trace.devices:
        yield CaptureWarning(id="no-kernels", text="no kernel ran in the part of the trace shown")
