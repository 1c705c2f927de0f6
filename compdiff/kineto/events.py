"""Events of a trace. In: complete events. Out: the same with integer nanoseconds, nested per thread."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

import msgspec

ArgumentValue: TypeAlias = int | float | str | bool | list[object] | dict[str, object] | None

DEVICE_CATEGORIES = frozenset({"kernel", "gpu_memcpy", "gpu_memset"})
LAUNCH_CATEGORIES = frozenset({"cuda_runtime", "cuda_driver"})
# How far a child may end after its parent and still be one: clocks of two sources differ by less.
SLACK_NS = 1_000

_T = TypeVar("_T")


class _Correlated(msgspec.Struct):
    correlation: ArgumentValue = None


def _decoded(raw: bytes, kind: type[_T]) -> _T | None:
    try:
        return msgspec.json.decode(raw, type=kind) if raw else None
    except msgspec.DecodeError:
        return None


@dataclass(eq=False, slots=True)
class Event:
    """One complete event; `children` are the events nested in it on its thread, in start order."""

    name: str
    category: str
    thread: tuple[str, str]
    start_ns: int
    duration_ns: int
    raw_arguments: bytes = b""
    parent: "Event | None" = None
    children: list["Event"] = field(default_factory=list)

    @property
    def end_ns(self) -> int:
        """End of the event, nanoseconds on the trace's clock."""
        return self.start_ns + self.duration_ns

    @property
    def arguments(self) -> dict[str, ArgumentValue]:
        """The event's `args`; empty where they are no object."""
        return _decoded(self.raw_arguments, dict[str, ArgumentValue]) or {}

    @property
    def correlation(self) -> int | None:
        """The id that ties a launch to its kernels; None where there is none, or one that stands for none."""
        found = _decoded(self.raw_arguments, _Correlated)
        value = None if found is None else found.correlation
        return value if isinstance(value, int) and value > 0 else None

    def ancestors(self) -> "list[Event]":
        """The events around this one, innermost first."""
        found = []
        event = self.parent
        while event is not None:
            found.append(event)
            event = event.parent
        return found

    def descendants(self) -> "Iterator[Event]":
        """Yield the events inside this one, in start order."""
        pending = list(reversed(self.children))
        while pending:
            event = pending.pop()
            yield event
            pending.extend(reversed(event.children))


def nest(events: Sequence[Event]) -> int:
    """Set parent and children from the intervals of the host events; `events` must be in start order.

    Returns how many events end after the event that they start in by more than the clocks allow: these stand beside it.
    """
    stacks: dict[tuple[str, str], list[Event]] = defaultdict(list)
    crossing = 0
    for event in events:
        if event.category in DEVICE_CATEGORIES:
            continue
        stack = stacks[event.thread]
        while stack and stack[-1].end_ns <= event.start_ns:
            stack.pop()
        around = len(stack)
        while around and event.end_ns > stack[around - 1].end_ns + SLACK_NS:
            around -= 1
        crossing += around < len(stack)
        if around:
            event.parent = stack[around - 1]
            stack[around - 1].children.append(event)
        stack.append(event)
    return crossing


def thread_numbers(events: Iterable[Event]) -> dict[tuple[str, str], int]:
    """Return a number for each thread of these events, counted from 0 in the order in which they appear."""
    return {
        thread: number for number, thread in enumerate(dict.fromkeys(it.thread for it in events))
    }


def nanoseconds(microseconds: bytes) -> int:
    """Return a decimal number of microseconds, as written in the file, as integer nanoseconds, without rounding error.

    A double cannot hold epoch microseconds to the nanosecond, so the digits are read as text.

    Raises:
        ValueError: the text is no finite number.
    """
    text = microseconds.strip(b' "').decode("ascii")
    whole, _, fraction = text.partition(".")
    if "e" in text or "E" in text:
        return round(float(text) * 1000)
    sign = -1 if whole.startswith("-") else 1
    return int(whole or "0") * 1000 + sign * int((fraction + "000")[:3])
