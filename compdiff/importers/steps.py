"""Which part of a trace is one step. In: a trace's events, what the user asked for. Out: a window of time."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter

from compdiff.errors import CompdiffError
from compdiff.kineto import DEVICE_CATEGORIES, PROFILER_STEP, Event


@dataclass(frozen=True)
class Window:
    """A part of the trace's time on the host; `note` says in words which part it is, and what was left out."""

    start_ns: int
    end_ns: int
    note: str = ""

    def holds(self, event: Event) -> bool:
        """Return whether an event starts in the window."""
        return self.start_ns <= event.start_ns < self.end_ns

    def part(self, events: Sequence[Event]) -> Sequence[Event]:
        """Return the events that start in the window, of all in start order."""
        start = attrgetter("start_ns")
        first = bisect_left(events, self.start_ns, key=start)
        return events[first : bisect_left(events, self.end_ns, key=start)]


def choose_window(
    events: Sequence[Event], step: int | None = None, between: tuple[str, str] | None = None
) -> Window:
    """Return the window to read: the step or the annotations asked for, else the median steady step, else everything.

    Steady are all profiler steps but the first, which is cold. Of an even number the shorter one in the middle is taken.

    Raises:
        CompdiffError: there is no such step or annotation; says which there are.
    """
    steps = sorted(_steps(events), key=lambda event: event.start_ns)
    if between is not None:
        return _between(events, *between)
    if step is not None:
        return _numbered(steps, step)
    if steps:
        return _steady(steps)
    return whole_window(events)


def whole_window(events: Sequence[Event]) -> Window:
    """Return the window of all events; one at time zero without a duration has no time, and does not stretch it."""
    known = [event for event in events if event.start_ns or event.duration_ns]
    if not known:
        return Window(0, 1, "a trace without events")
    start = min(event.start_ns for event in known)
    return Window(start, max(event.end_ns for event in known) + 1)


def _steps(events: Sequence[Event]) -> list[Event]:
    """Return the profiler's steps, each number once: the profiler may write it for several threads."""
    found: dict[str, Event] = {}
    for event in events:
        if event.name.startswith(PROFILER_STEP):
            found.setdefault(event.name, event)
    return list(found.values())


def _numbered(steps: Sequence[Event], number: int) -> Window:
    for event in steps:
        if event.name == f"{PROFILER_STEP}{number}":
            return Window(event.start_ns, event.end_ns, f"{event.name}, as asked")
    shown = ", ".join(event.name.removeprefix(PROFILER_STEP) for event in steps) or "none"
    raise CompdiffError(f"the trace has no profiler step {number}", f"Its steps: {shown}.")


def _steady(steps: Sequence[Event]) -> Window:
    if len(steps) == 1:
        (only,) = steps
        return Window(only.start_ns, only.end_ns, f"{only.name}, the only step")
    cold, *steady = steps
    chosen = sorted(steady, key=lambda event: event.duration_ns)[(len(steady) - 1) // 2]
    note = (
        f"{chosen.name}, the median of {len(steady)} steady steps by host time; the first, {cold.name}, took "
        f"{cold.duration_ns / 1e6:.3g} ms against {chosen.duration_ns / 1e6:.3g} ms and is left out"
    )
    return Window(chosen.start_ns, chosen.end_ns, note)


def _between(events: Sequence[Event], first: str, last: str) -> Window:
    host = [event for event in events if event.category not in DEVICE_CATEGORIES]
    start = next((event for event in host if event.name == first), None)
    if start is None:
        raise CompdiffError(f"the trace has no event {first!r}", _annotations(host))
    end = next(
        (event for event in host if event.name == last and event.start_ns >= start.start_ns), None
    )
    if end is None:
        raise CompdiffError(f"the trace has no event {last!r} after {first!r}", _annotations(host))
    return Window(start.start_ns, max(start.end_ns, end.end_ns), f"between {first} and {last}")


def _annotations(host: Sequence[Event]) -> str:
    names = sorted({event.name for event in host if event.category == "user_annotation"})
    return f"Its annotations: {', '.join(names[:8]) or 'none'}."
