"""What a step's time went to. In: a step's event, all events of its trace. Out: parts that add up to the step.

Only what the trace shows is named; the rest is `other`. A moment belongs to what runs innermost on its thread, and, where
several things run at once, to the first of `PARTS` among them.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from compdiff.kineto.events import DEVICE_CATEGORIES, LAUNCH_CATEGORIES, Event
from compdiff.model import StepSplit

PARTS = ("device", "kernels", "launches", "lookup", "wrapper", "op_calls", "wait")
"""The names of the parts, the one that a moment counts for first; `other` is what is left."""
OTHER = "other"

_LOOKUP = "TorchDynamo Cache Lookup"
# Source: as for compdiff.findings.host.COMPILED_CODE.
_WRAPPER = (
    "Torch-Compiled Region",
    "Pregraph bytecode",
    "AOTDispatcher Runtime Wrapper Prologue",
    "CompiledFunction",
    "## Call CompiledFxGraph",
)
_WAITS = "Synchronize"
# `graph_0_cpp_fused_add_0`, `cpp_fused_add_0`; templates have no name yet when their code is written: `graph_0_kernel`.
_GENERATED = re.compile(r"(?:graph_\d+_)?cpp_|graph_\d+_kernel$")
_RANK = {name: rank for rank, name in enumerate(PARTS)}


def split_step(step: Event, events: Sequence[Event]) -> StepSplit:
    """Return what the time of `step` went to: all threads and all streams, cut at its ends.

    `host_ns` is the same without the device, where one ran anything: there, time on the host counts although kernels run.
    """
    inside = [it for it in events if it.end_ns > step.start_ns and it.start_ns < step.end_ns]
    kinds = {id(event): kind for event in inside if (kind := part_of(event)) is not None}
    pieces = [
        (kinds[id(event)], start, end)
        for event in inside
        if id(event) in kinds
        for start, end in _own(event, kinds)
    ]
    on_host = [piece for piece in pieces if piece[0] != "device"]
    return StepSplit(
        total_ns=step.duration_ns,
        parts_ns=_shares(pieces, step),
        host_ns=_shares(on_host, step) if len(on_host) < len(pieces) else {},
    )


def part_of(event: Event) -> str | None:
    """Return the part that an event's own time belongs to, None for one that only marks a place."""
    name, category = event.name, event.category
    if category in DEVICE_CATEGORIES:
        return "device"
    if category in LAUNCH_CATEGORIES:
        return "wait" if _WAITS in name else "launches"
    if category != "cpu_op":
        # Newer versions of torch mark the call of a graph as an annotation.
        return "wrapper" if name.startswith(_WRAPPER) else None
    if name.startswith(_LOOKUP):
        return "lookup"
    if name.startswith(_WRAPPER):
        return "wrapper"
    return "kernels" if _is_generated(name) else "op_calls"


def _is_generated(name: str) -> bool:
    """Return whether a host event is a C++ function that Inductor wrote."""
    return _GENERATED.match(name) is not None


def _own(event: Event, kinds: Mapping[int, str]) -> Iterator[tuple[int, int]]:
    """Yield the intervals of an event in which nothing that has a part of its own runs inside it."""
    start = event.start_ns
    for inner in _inside(event, kinds):
        if inner.start_ns > start:
            yield start, inner.start_ns
        start = max(start, inner.end_ns)
    if event.end_ns > start:
        yield start, event.end_ns


def _inside(event: Event, kinds: Mapping[int, str]) -> Iterator[Event]:
    """Yield the nearest events inside that have a part, in start order."""
    for child in event.children:
        if id(child) in kinds:
            yield child
        else:
            yield from _inside(child, kinds)


def _shares(pieces: Iterable[tuple[str, int, int]], step: Event) -> dict[str, int]:
    """Return how much of the step each part takes, every moment counted once; they add up to the step."""
    changes = sorted(
        (min(max(moment, step.start_ns), step.end_ns), change, _RANK[kind])
        for kind, start, end in pieces
        for moment, change in ((start, 1), (end, -1))
    )
    running, shares, since = Counter[int](), Counter[str](), step.start_ns
    for moment, change, rank in changes:
        shares[_first(running)] += moment - since
        running[rank] += change
        since = moment
    shares[_first(running)] += step.end_ns - since
    return {name: shares[name] for name in (*PARTS, OTHER) if shares[name]}


def _first(running: Mapping[int, int]) -> str:
    rank = min((rank for rank, count in running.items() if count > 0), default=None)
    return OTHER if rank is None else PARTS[rank]
