"""Kineto's Chrome-trace JSON. In: the bytes of a trace file. Out: events with integer nanoseconds, nested per thread.

Source: the format of `torch.profiler.profile.export_chrome_trace` (torch 2.13, 2.14); "complete" events (`ph: X`) only.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TypeAlias

import msgspec

from compdiff.errors import FormatError

ArgumentValue: TypeAlias = "int | float | str | bool | list[object] | dict[str, object] | None"

DEVICE_CATEGORIES = frozenset({"kernel", "gpu_memcpy", "gpu_memset"})
LAUNCH_CATEGORIES = frozenset({"cuda_runtime", "cuda_driver"})


class _RawEvent(msgspec.Struct):
    ph: str = ""
    name: str = ""
    cat: str = ""
    pid: int | str = ""
    tid: int | str = ""
    ts: msgspec.Raw = msgspec.Raw(b"0")
    dur: msgspec.Raw = msgspec.Raw(b"0")
    args: dict[str, ArgumentValue] = {}


class _RawTrace(msgspec.Struct):
    traceEvents: list[_RawEvent] = []  # noqa: N815 - the file's own spelling


@dataclass(eq=False)
class Event:
    """One complete event; `children` are the events nested in it on its thread, in start order."""

    name: str
    category: str
    thread: tuple[str, str]
    start_ns: int
    duration_ns: int
    arguments: dict[str, ArgumentValue]
    parent: "Event | None" = None
    children: list["Event"] = field(default_factory=list)

    @property
    def end_ns(self) -> int:
        """End of the event, nanoseconds on the trace's clock."""
        return self.start_ns + self.duration_ns

    @property
    def correlation(self) -> int | None:
        """The id that ties a launch to its kernels, or None."""
        value = self.arguments.get("correlation")
        return value if isinstance(value, int) else None

    def ancestors(self) -> "list[Event]":
        """The events around this one, innermost first."""
        found = []
        event = self.parent
        while event is not None:
            found.append(event)
            event = event.parent
        return found


def decode(data: bytes) -> list[Event]:
    """Return the complete events of a trace in start order, nested per thread.

    Raises:
        FormatError: the bytes are not a Kineto trace.
    """
    try:
        raw = msgspec.json.decode(data, type=_RawTrace)
    except msgspec.DecodeError as error:
        message = f"not a Kineto trace: {error}"
        raise FormatError(
            message, "Export it with torch.profiler's export_chrome_trace."
        ) from error
    events = [_event(item) for item in raw.traceEvents if item.ph == "X"]
    events.sort(key=lambda event: (event.start_ns, -event.duration_ns))
    nest(events)
    return events


def nest(events: list[Event]) -> None:
    """Set parent and children from the intervals of the host events; `events` must be in start order."""
    stacks: dict[tuple[str, str], list[Event]] = defaultdict(list)
    for event in events:
        if event.category in DEVICE_CATEGORIES:
            continue
        stack = stacks[event.thread]
        while stack and stack[-1].end_ns <= event.start_ns:
            stack.pop()
        if stack:
            event.parent = stack[-1]
            stack[-1].children.append(event)
        stack.append(event)


def nanoseconds(microseconds: bytes) -> int:
    """Return a decimal number of microseconds, as written in the file, as integer nanoseconds, without rounding error.

    A double cannot hold epoch microseconds to the nanosecond, so the digits are read as text.
    """
    text = microseconds.strip(b'"').decode("ascii")
    whole, _, fraction = text.partition(".")
    if "e" in text or "E" in text:
        return round(float(text) * 1000)
    sign = -1 if whole.startswith("-") else 1
    return int(whole or "0") * 1000 + sign * int((fraction + "000")[:3])


def _event(raw: _RawEvent) -> Event:
    return Event(
        name=raw.name,
        category=raw.cat,
        thread=(str(raw.pid), str(raw.tid)),
        start_ns=nanoseconds(bytes(raw.ts)),
        duration_ns=nanoseconds(bytes(raw.dur)),
        arguments=raw.args,
    )
