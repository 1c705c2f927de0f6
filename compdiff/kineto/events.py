"""Events of a trace. In: complete events. Out: the same with integer nanoseconds, nested per thread."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
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


PROFILER_STEP = "ProfilerStep#"
"""How the profiler's annotation around a step begins; its number follows."""
STEP_NAME = "compdiff step"
"""The annotation around the step that compdiff profiles."""
_NOT_THE_USERS = (PROFILER_STEP, "## Call CompiledFxGraph", STEP_NAME)


class Event(msgspec.Struct, eq=False):
    """One complete event; `children` are the events nested in it on its thread, in start order.

    `correlation` ties a launch to its kernels: None where there is none, or one that stands for none, and for other events.
    """

    name: str
    category: str
    thread: tuple[str, str]
    start_ns: int
    duration_ns: int
    raw_arguments: bytes | msgspec.Raw = b""
    correlation: int | None = None
    parent: "Event | None" = None
    children: "list[Event] | tuple[()]" = ()

    @property
    def end_ns(self) -> int:
        """End of the event, nanoseconds on the trace's clock."""
        return self.start_ns + self.duration_ns

    @property
    def arguments(self) -> dict[str, ArgumentValue]:
        """The event's `args`; empty where they are no object."""
        return _decoded(bytes(self.raw_arguments), dict[str, ArgumentValue]) or {}

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


def annotations_around(event: Event) -> tuple[str, ...]:
    """Return the names that the user gave to what an event lies in, outermost first; profiler steps and graphs are none."""
    outside = (
        outer for outer in reversed(event.ancestors()) if outer.category == "user_annotation"
    )
    return tuple(outer.name for outer in outside if not outer.name.startswith(_NOT_THE_USERS))


def correlate(events: Sequence[Event]) -> None:
    """Set the correlation of launches and device events."""
    correlated = DEVICE_CATEGORIES | LAUNCH_CATEGORIES
    wanted = [event for event in events if event.category in correlated]
    found = correlations([bytes(event.raw_arguments) for event in wanted])
    for event, correlation in zip(wanted, found, strict=True):
        event.correlation = correlation


def correlations(arguments: Sequence[bytes]) -> list[int | None]:
    """Return the correlation in each of the `args` of some events; None where there is none, or one that stands for none."""
    # All at once: decoding each on its own takes several times as long.
    joined = b"[" + b",".join(text or b"null" for text in arguments) + b"]"
    found = _decoded(joined, list[_Correlated | None])
    if found is None:  # some are no objects
        found = [_decoded(text, _Correlated) for text in arguments]
    values = (None if item is None else item.correlation for item in found)
    return [value if isinstance(value, int) and value > 0 else None for value in values]


def nest(events: Sequence[Event]) -> int:
    """Set parent and children from the intervals of the host events; `events` must be in start order.

    Returns how many events end after the event that they start in by more than the clocks allow: these stand beside it.
    """
    stacks: dict[tuple[str, str], list[tuple[int, Event]]] = defaultdict(list)
    crossing = 0
    for event in events:
        if event.category in DEVICE_CATEGORIES:
            continue
        start = event.start_ns
        end = start + event.duration_ns
        stack = stacks[event.thread]
        while stack and stack[-1][0] <= start:
            stack.pop()
        around = len(stack)
        while around and end > stack[around - 1][0] + SLACK_NS:
            around -= 1
        crossing += around < len(stack)
        if around:
            _put_into(stack[around - 1][1], event)
        stack.append((end, event))
    return crossing


def thread_numbers(events: Iterable[Event]) -> dict[tuple[str, str], int]:
    """Return a number for each thread of these events, counted from 0 in the order in which they appear."""
    return {
        thread: number for number, thread in enumerate(dict.fromkeys(it.thread for it in events))
    }


def _put_into(parent: Event, event: Event) -> None:
    event.parent = parent
    if parent.children:
        parent.children.append(event)
    else:
        parent.children = [event]


def nanoseconds(microseconds: bytes) -> int:
    """Return a decimal number of microseconds, as written in the file, as integer nanoseconds, without rounding error.

    A double cannot hold epoch microseconds to the nanosecond, so the digits are read as text.

    Raises:
        ValueError: the text is no finite number.
    """
    whole, _, fraction = microseconds.partition(b".")
    if whole.isdigit() and (not fraction or fraction.isdigit()):
        return int(whole + (fraction + b"000")[:3])
    text = microseconds.strip(b' "').decode("ascii")
    if "e" in text or "E" in text:
        return round(float(text) * 1000)
    sign = -1 if text.startswith("-") else 1
    start, _, rest = text.partition(".")
    return int(start or "0") * 1000 + sign * int((rest + "000")[:3])
