"""Records of a trace file as events. In: the file's bytes, which part of it. Out: a Trace: events, devices, what was odd."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from operator import attrgetter

import msgspec

from compdiff.kineto.events import ArgumentValue, Event, correlate, nanoseconds, nest
from compdiff.kineto.part import around, kernels_of
from compdiff.kineto.records import (
    CATEGORIES,
    DEVICE_SPELLINGS,
    Record,
    ThreadPart,
    numbered,
    parsed,
)

_SKIPPED = frozenset({"ac2g", "fwdbwd", "Trace", "gpu_user_annotation"})


@dataclass
class Trace:
    """A trace file, or what of it bears on one window: complete events in start order, nested per thread.

    `odd` counts what was missing or mended. `has_kernels` says whether anything ran on a device, in the window or not.
    """

    events: list[Event]
    devices: list[str] = field(default_factory=list)
    rank: int | None = None
    cuda: str = ""
    driver: str = ""
    odd: Counter[str] = field(default_factory=Counter)
    has_kernels: bool = False


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
    return TraceData(data, python_frames=python_frames).whole()


class TraceData:
    """A trace file as records; `whole` and `part` make events of them."""

    def __init__(self, data: bytes, *, python_frames: bool = True) -> None:
        """Read the bytes of a file.

        Raises:
            FormatError: the bytes are not a Kineto trace, or end too early: says at which byte.
        """
        self._file, self._odd = parsed(data)
        self._left_out = _SKIPPED if python_frames else _SKIPPED | {"python_function"}

    def named(self, start: str) -> list[Event]:
        """Return the complete events whose names start so, in start order, nested in nothing."""
        found = [item for item in self._file.traceEvents if item.name.startswith(start)]
        return in_order(complete_events(found, self._left_out, Counter()))

    def whole(self) -> Trace:
        """Return the trace with all its complete events."""
        odd = self._odd.copy()
        events = in_order(complete_events(self._file.traceEvents, self._left_out, odd))
        correlate(events)
        return self._trace(events, odd)

    def part(self, start_ns: int, end_ns: int) -> Trace:
        """Return what bears on a window: what starts in it, what is around or inside that, and the kernels of its launches.

        Kernels that run in the window are there too, unless they were launched elsewhere in the file. What is odd is
        counted in the part alone.
        """
        records = numbered(self._file)
        if records is None:
            return self.whole()  # all their times would have to be read to know which to leave out
        odd = self._odd.copy()
        host = self._copied(around(records, self._left_out, start_ns, end_ns), odd)
        launched = {it.correlation for it in host if start_ns <= it.start_ns < end_ns}
        device = self._copied(kernels_of(records, launched - {None}, start_ns, end_ns), odd)
        return self._trace(in_order([*host, *device]), odd)

    def _copied(self, records: Iterable[Record], odd: Counter[str]) -> list[Event]:
        """Return records as correlated events that keep nothing of the file's bytes alive."""
        events = list(complete_events(records, self._left_out, odd))
        for event in events:
            event.raw_arguments = bytes(event.raw_arguments)
        correlate(events)
        return events

    def _trace(self, events: list[Event], odd: Counter[str]) -> Trace:
        crossing = nest(events)
        if crossing:
            odd["events that end after the event they start in"] = crossing
        rank = self._file.distributedInfo.get("rank")
        return Trace(
            events=events,
            devices=[device.name for device in self._file.deviceProperties],
            rank=rank if isinstance(rank, int) else None,
            cuda=_version(self._file.cuda_runtime_version),
            driver=_version(self._file.cuda_driver_version),
            odd=odd,
            has_kernels=any(item.cat in DEVICE_SPELLINGS for item in self._file.traceEvents),
        )


def in_order(events: Iterable[Event]) -> list[Event]:
    """Return the events in order of (start, longest first)."""
    found = sorted(events, key=attrgetter("duration_ns"), reverse=True)
    found.sort(key=attrgetter("start_ns"))
    return found


def complete_events(
    raw: Iterable[Record], left_out: frozenset[str], odd: Counter[str]
) -> Iterator[Event]:
    """Yield the complete events with a usable time; what had to be mended or left out is counted."""
    threads: dict[tuple[ThreadPart, ThreadPart], tuple[str, str]] = {}
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
        category = CATEGORIES.get(category, category)
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
