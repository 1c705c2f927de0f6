"""Two traces as one run. In: paths, what part of them to read. Out: a Run whose sides are imported."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

import compdiff
from compdiff import kineto
from compdiff.forked import beside
from compdiff.importers.capture import make_capture
from compdiff.importers.files import TraceFile, read_trace_file
from compdiff.importers.steps import Window, choose_window, whole_window
from compdiff.model import (
    SAME_TRACE,
    Capture,
    CaptureWarning,
    CaseInfo,
    CompileOptions,
    Environment,
    Run,
)

if TYPE_CHECKING:
    from compdiff.importers.torch_trace import CompilerLog

# A packed trace of this size takes longer to read than a second process to start.
_LARGE = 100_000


@dataclass(frozen=True)
class Asked:
    """What of a trace to read: a step by number, what lies between two annotations, everything, or a steady step.

    `torch_trace` is the TORCH_TRACE log of the compiled trace, or the folder of it.
    """

    step: int | None = None
    between: tuple[str, str] | None = None
    whole: bool = False
    member: str = ""
    torch_trace: Path | None = None


def import_traces(left: Path, right: Path | None, asked: Asked, name: str = "") -> Run:
    """Return the run of two traces, the left one eager and the right one compiled; without a right one of one trace.

    A TORCH_TRACE log that is asked for is that of the right trace, or of the one.

    Raises:
        FormatError: a file is no trace or no log, or damaged: says where.
        CompdiffError: a step or an annotation that was asked for is not there.
    """
    log = _log(asked)
    with no_garbage_collection():
        if right is not None:
            first, environment, second = _both(left, right, asked, log)
        else:
            first, environment = _side(left, asked, "eager", log)
            second = None
    if second is None:
        first = msgspec.structs.replace(first, label="trace")
        second = msgspec.structs.replace(first, label=SAME_TRACE, warnings=())
    if log is not None:
        environment = msgspec.structs.replace(environment, torch=log.torch)
    return Run(
        case=CaseInfo(
            name=name or _name(left, right),
            file=str(left) if right is None else f"{left}, {right}",
            summary="Imported from traces." if right else "One trace, shown beside itself.",
        ),
        environment=environment,
        options=CompileOptions(),
        left=first,
        right=second,
        warnings=tuple(_differences(first, second)),
    )


def _log(asked: Asked) -> "CompilerLog | None":
    if asked.torch_trace is None:
        return None
    from compdiff.importers.torch_trace import read_torch_trace  # noqa: PLC0415 (few imports have one)

    return read_torch_trace(asked.torch_trace, asked.member)


def _both(
    left: Path, right: Path, asked: Asked, log: "CompilerLog | None"
) -> tuple[Capture, Environment, Capture]:
    """Return both sides; the right one is read by a second process where it is large."""

    def read_right() -> Capture:
        return _side(right, asked, "compiled", log)[0]

    if not right.is_file() or right.stat().st_size < _LARGE:
        return *_side(left, asked, "eager", None), read_right()
    with beside(lambda: msgspec.msgpack.encode(read_right())) as answer:
        first = _side(left, asked, "eager", None)
        return *first, msgspec.msgpack.decode(answer(), type=Capture)


def _side(
    path: Path, asked: Asked, label: str, log: "CompilerLog | None"
) -> tuple[Capture, Environment]:
    file = read_trace_file(path, asked.member)
    trace, window = _read(file, asked)
    capture = make_capture(trace, window, label)
    if log is not None:
        from compdiff.importers.torch_trace import attach  # noqa: PLC0415 (few imports have a log)

        capture = attach(capture, log, trace.events, window)
    if file.others:
        text = f"{file.name} was read; beside it are {', '.join(file.others[:5])}: choose with --member"
        others = CaptureWarning(id="other-traces", text=text)
        capture = msgspec.structs.replace(capture, warnings=(*capture.warnings, others))
    environment = Environment(
        cuda=trace.cuda,
        driver=trace.driver,
        device=trace.devices[0] if trace.devices else "",
        compdiff=compdiff.__version__,
    )
    return capture, environment


def _read(file: TraceFile, asked: Asked) -> tuple[kineto.Trace, Window]:
    """Return the window asked for, and what of the trace bears on it: all of it where that is no step."""
    data = kineto.TraceData(file.data)
    steps = [] if asked.whole or asked.between else data.named(kineto.PROFILER_STEP)
    if steps or asked.step is not None:
        window = choose_window(steps, asked.step)
        return data.part(window.start_ns, window.end_ns), window
    trace = data.whole()
    if asked.between is None:
        return trace, whole_window(trace.events)
    return trace, choose_window(trace.events, between=asked.between)


def _name(left: Path, right: Path | None) -> str:
    stems = [path.name.partition(".")[0] or path.name for path in (left, right) if path is not None]
    return "-against-".join(stems)


def _differences(left: Capture, right: Capture) -> Iterator[CaptureWarning]:
    """Yield what makes the sides hard to compare."""
    if left.device_name != right.device_name:
        text = f"the sides ran on different devices: {left.device_name or 'unknown'} and {right.device_name or 'unknown'}"
        yield CaptureWarning(id="devices-differ", text=text)
    text = "times are those of the profiled traces: the profiler slows the host down, and each is one sample"
    yield CaptureWarning(id="profiled-times", text=text)


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Do without looking for cycles in between: a trace is hundreds of thousands of objects, and nearly all of them stay."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
