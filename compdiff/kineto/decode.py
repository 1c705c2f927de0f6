"""The bytes of a trace file. In: JSON as Kineto writes it, of any age. Out: a Trace: events, devices, and what was odd.

Source: the format of `torch.profiler.profile.export_chrome_trace` from torch 1.8 to 2.14, as found in public traces.
"""

from collections import Counter
from dataclasses import dataclass, field

import msgspec

from compdiff.errors import FormatError
from compdiff.kineto.events import ArgumentValue, Event, nanoseconds, nest
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


class _RawEvent(msgspec.Struct):
    ph: str = ""
    name: str = ""
    cat: str = ""
    pid: int | float | str | None = ""
    tid: int | float | str | None = ""
    ts: msgspec.Raw = msgspec.Raw(b"")
    dur: msgspec.Raw = msgspec.Raw(b"")
    args: msgspec.Raw = msgspec.Raw(b"")


class _Device(msgspec.Struct):
    name: str = ""


class _RawTrace(msgspec.Struct):
    traceEvents: list[_RawEvent]  # noqa: N815 - the file's own spelling
    deviceProperties: list[_Device] = []  # noqa: N815
    distributedInfo: dict[str, ArgumentValue] = {}  # noqa: N815
    cuda_runtime_version: ArgumentValue = None
    cuda_driver_version: ArgumentValue = None


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
    events = []
    for item in raw.traceEvents:
        if item.ph != "X" or item.cat in _SKIPPED:
            continue
        if item.cat == "python_function" and not python_frames:
            continue
        event = _event(item, odd)
        if event is not None:
            events.append(event)
    events.sort(key=lambda event: (event.start_ns, -event.duration_ns))
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


def _parsed(data: bytes) -> tuple[_RawTrace, Counter[str]]:
    """Return the file as types; where it is no JSON, once more with the known faults mended."""
    try:
        return _decoded(data), Counter()
    except msgspec.DecodeError as error:
        mended, odd = repaired(data)
        try:
            return _decoded(mended), odd
        except msgspec.DecodeError as second:
            raise FormatError(_message(data, second if odd else error), _HINT) from second


def _decoded(data: bytes) -> _RawTrace:
    if data.lstrip()[:1] == b"[":
        return _RawTrace(traceEvents=msgspec.json.decode(data, type=list[_RawEvent]))
    return msgspec.json.decode(data, type=_RawTrace)


def _message(data: bytes, error: msgspec.DecodeError) -> str:
    if "truncated" in str(error):
        return f"not a Kineto trace: it is truncated at byte {len(data):,}"
    return f"not a Kineto trace: {error}"


def _event(raw: _RawEvent, odd: Counter[str]) -> Event | None:
    """Return an event; None for one without a usable time, which is counted."""
    start, duration = _time(raw.ts), _time(raw.dur)
    if start is None:
        odd["events without a start"] += 1
        return None
    if duration is None:
        odd["events without a duration"] += 1
        duration = 0
    if duration < 0:
        odd["events with a negative duration"] += 1
        duration = 0
    return Event(
        name=raw.name,
        category=_CATEGORIES.get(raw.cat, raw.cat),
        thread=(str(raw.pid), str(raw.tid)),
        start_ns=start,
        duration_ns=duration,
        raw_arguments=bytes(raw.args),
    )


def _time(raw: msgspec.Raw) -> int | None:
    text = bytes(raw)
    try:
        return nanoseconds(text) if text else None
    except (ValueError, OverflowError):
        return None


def _version(value: ArgumentValue) -> str:
    """Return a CUDA version as people write it: 12090 is 12.9; others as they are."""
    if isinstance(value, int) and 1000 <= value < 100_000:  # noqa: PLR2004 - CUDA's own encoding
        return f"{value // 1000}.{value % 1000 // 10}"
    return "" if value is None else str(value)
