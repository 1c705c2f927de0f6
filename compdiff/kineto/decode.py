"""The bytes of a trace file. In: JSON as Kineto writes it, of any age. Out: a Trace: events, devices, and what was odd.

Source: the format of `torch.profiler.profile.export_chrome_trace` from torch 1.8 to 2.14, as found in public traces.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Generic, TypeAlias, TypeVar

import msgspec

from compdiff.errors import FormatError
from compdiff.kineto.events import ArgumentValue, Event, correlate, nanoseconds, nest
from compdiff.kineto.repair import repaired

_HINT = "Export it with torch.profiler's export_chrome_trace."
# Categories of older exports, and of ROCm, by the names of today.
_CATEGORIES = {
    "Operator": "cpu_op",
    "operator": "cpu_op",
    "cpu_instant_event": "cpu_op",
    "Kernel": "kernel",
    "Runtime": "cuda_runtime",
    "runtime": "cuda_runtime",
    "hip_runtime": "cuda_runtime",
    "Memcpy": "gpu_memcpy",
    "Memset": "gpu_memset",
    "memcpy": "gpu_memcpy",
    "memset": "gpu_memset",
    "user_annotation": "user_annotation",
    "Python function": "python_function",
}
_SKIPPED = frozenset({"ac2g", "fwdbwd", "Trace", "gpu_user_annotation"})

# Up to here (101 days) a float tells nanoseconds apart; since 2024 Kineto counts from a quarter's start.
_EXACT_US = 2.0**43

_ThreadPart: TypeAlias = int | float | str | None


class _RawEvent(msgspec.Struct):
    ph: str = ""
    name: str = ""
    cat: str = ""
    pid: _ThreadPart = ""
    tid: _ThreadPart = ""
    args: msgspec.Raw = msgspec.Raw(b"")


class _NumberEvent(_RawEvent):
    ts: int | float | None = None
    dur: int | float | None = None


class _TextEvent(_RawEvent):
    ts: msgspec.Raw = msgspec.Raw(b"")
    dur: msgspec.Raw = msgspec.Raw(b"")


_AnyEvent: TypeAlias = _NumberEvent | _TextEvent
_E = TypeVar("_E", _NumberEvent, _TextEvent)


class _Device(msgspec.Struct):
    name: str = ""


class _RawTrace(msgspec.Struct, Generic[_E]):
    traceEvents: list[_E]  # noqa: N815 - the file's own spelling
    deviceProperties: list[_Device] = []  # noqa: N815
    distributedInfo: dict[str, ArgumentValue] = {}  # noqa: N815
    cuda_runtime_version: ArgumentValue = None
    cuda_driver_version: ArgumentValue = None


_AnyTrace: TypeAlias = _RawTrace[_NumberEvent] | _RawTrace[_TextEvent]


@dataclass
class Trace:
    """A trace file: complete events in start order, nested per thread; `odd` counts what was missing or mended."""

    events: list[Event]
    devices: list[str] = field(default_factory=list)
    rank: int | None = None
    cuda: str = ""
    driver: str = ""
    odd: Counter[str] = field(default_factory=Counter)


def decode(data: bytes) -> list[Event]:
    """Return the complete events of a trace in start order, nested per thread.

    Raises:
        FormatError: the bytes are not a Kineto trace.
    """
    return read(data).events


def read(data: bytes, *, python_frames: bool = True) -> Trace:
    """Return a trace; without `python_frames` the frames of Python functions, often most of a file, are left out.

    Raises:
        FormatError: the bytes are not a Kineto trace, or end too early: says at which byte.
    """
    raw, odd = _parsed(data)
    left_out = _SKIPPED if python_frames else _SKIPPED | {"python_function"}
    events = list(_events(raw.traceEvents, left_out, odd))
    # In order of (start, longest first).
    events.sort(key=attrgetter("duration_ns"), reverse=True)
    events.sort(key=attrgetter("start_ns"))
    correlate(events)
    crossing = nest(events)
    if crossing:
        odd["events that end after the event they start in"] = crossing
    rank = raw.distributedInfo.get("rank")
    return Trace(
        events=events,
        devices=[device.name for device in raw.deviceProperties],
        rank=rank if isinstance(rank, int) else None,
        cuda=_version(raw.cuda_runtime_version),
        driver=_version(raw.cuda_driver_version),
        odd=odd,
    )


def _parsed(data: bytes) -> tuple[_AnyTrace, Counter[str]]:
    """Return the file as types; where it is no JSON, once more with the known faults mended."""
    try:
        return _decoded(data), Counter()
    except msgspec.DecodeError as error:
        mended, odd = repaired(data)
        try:
            return _decoded(mended), odd
        except msgspec.DecodeError as second:
            raise FormatError(_message(data, second if odd else error), _HINT) from second


def _decoded(data: bytes) -> _AnyTrace:
    """Return the file with its times as numbers; as text, which takes twice as long, where numbers do not hold them."""
    try:
        trace = _decoded_as(data, _NumberEvent)
    except msgspec.ValidationError:
        return _decoded_as(data, _TextEvent)
    floats = (event.ts for event in trace.traceEvents if isinstance(event.ts, float))
    return trace if max(floats, default=0.0) < _EXACT_US else _decoded_as(data, _TextEvent)


def _decoded_as(data: bytes, event: type[_E]) -> _RawTrace[_E]:
    if data.lstrip()[:1] == b"[":
        return _RawTrace(traceEvents=msgspec.json.decode(data, type=list[event]))  # type: ignore[valid-type]
    trace: _RawTrace[_E] = msgspec.json.decode(data, type=_RawTrace[event])  # type: ignore[valid-type]
    return trace


def _message(data: bytes, error: msgspec.DecodeError) -> str:
    if "truncated" in str(error):
        return f"not a Kineto trace: it is truncated at byte {len(data):,}"
    return f"not a Kineto trace: {error}"


def _events(
    raw: Iterable[_AnyEvent], left_out: frozenset[str], odd: Counter[str]
) -> Iterator[Event]:
    """Yield the complete events with a usable time; what had to be mended or left out is counted."""
    threads: dict[tuple[_ThreadPart, _ThreadPart], tuple[str, str]] = {}
    for item in raw:
        category = item.cat
        if item.ph != "X" or category in left_out:
            continue
        start, duration = _nanoseconds(item.ts), _nanoseconds(item.dur)
        if start is None:
            odd["events without a start"] += 1
            continue
        if duration is None:
            odd["events without a duration"] += 1
            duration = 0
        elif duration < 0:
            odd["events with a negative duration"] += 1
            duration = 0
        key = item.pid, item.tid
        thread = threads.get(key)
        if thread is None:
            thread = threads[key] = str(item.pid), str(item.tid)
        category = _CATEGORIES.get(category, category)
        yield Event(item.name, category, thread, start, duration, item.args)


def _nanoseconds(value: float | msgspec.Raw | None) -> int | None:
    if isinstance(value, int):
        return value * 1000
    if isinstance(value, float):
        whole = int(value)
        return whole * 1000 + round((value - whole) * 1000)
    text = bytes(value or b"")
    try:
        return nanoseconds(text) if text else None
    except (ValueError, OverflowError):
        return None


def _version(value: ArgumentValue) -> str:
    """Return a CUDA version as people write it: 12090 is 12.9; others as they are."""
    if isinstance(value, int) and 1000 <= value < 100_000:  # noqa: PLR2004 - CUDA's own encoding
        return f"{value // 1000}.{value % 1000 // 10}"
    return "" if value is None else str(value)
