"""A capture as lanes on one clock. In: Capture. Out: threads, launches and streams, as spans from the step's start on."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Literal

import msgspec

from compdiff.lanes.device import has_times, on_device, streams, union
from compdiff.model import Capture, Kernel, Launch, OpCall

Part = Literal["host", "launches", "device"]


class Span(msgspec.Struct, frozen=True, gc=False):
    """One op call, launch or kernel; `start_ns` counts from the start of the step."""

    item: OpCall | Launch | Kernel
    start_ns: int
    duration_ns: int

    @property
    def end_ns(self) -> int:
        """When the span ends."""
        return self.start_ns + self.duration_ns


class Lane(msgspec.Struct, frozen=True):
    """What one thread or one stream did, in start order. An op call may lie within one that launches something itself."""

    name: str
    part: Part
    spans: tuple[Span, ...]


class SideLanes(msgspec.Struct, frozen=True):
    """All lanes of one side: the step takes `wall_ns` on the host; `end_ns` is when the last thing of it ends."""

    lanes: tuple[Lane, ...]
    wall_ns: int
    end_ns: int


class Chain(msgspec.Struct, frozen=True):
    """An op call with what it led to: launches, and the kernels that these made."""

    launches: tuple[Launch, ...] = ()
    kernels: tuple[Kernel, ...] = ()

    @property
    def device_ns(self) -> int:
        """The summed time of the kernels."""
        return sum(kernel.duration_ns for kernel in self.kernels)


def make_lanes(capture: Capture) -> SideLanes | None:
    """Return a side's lanes: threads of the host, generated C++ kernels, launches, streams; None for one without times."""
    if not has_times(capture):
        return None
    origin = _origin(capture)
    host = [call for call in capture.op_calls if call.start_ns is not None]
    functions = [kernel for kernel in capture.kernels if kernel.kind == "cpp"]
    lanes = (
        *_threads(host, origin),
        *_lane("C++ kernels", "host", functions, origin),
        *_lane("launches", "launches", capture.launches, origin),
        *_streams(on_device(capture), origin),
    )
    wall = capture.profile_wall_ns or 0
    last = max((span.end_ns for lane in lanes for span in lane.spans), default=0)
    return SideLanes(lanes, wall, max(wall, last))


def chains(capture: Capture) -> dict[int, Chain]:
    """Return what each op call led to, by its id; op calls that launched nothing are left out."""
    launches: dict[int, list[Launch]] = defaultdict(list)
    kernels: dict[int, list[Kernel]] = defaultdict(list)
    for launch in capture.launches:
        if launch.op_call is not None:
            launches[launch.op_call].append(launch)
    for kernel in capture.kernels:
        if kernel.op_call is not None:
            kernels[kernel.op_call].append(kernel)
    return {
        number: Chain(tuple(launches.get(number, ())), tuple(kernels.get(number, ())))
        for number in dict.fromkeys([*launches, *kernels])
    }


def host_ns(capture: Capture) -> int:
    """Return for how long at least one op call ran on the host."""
    timed = (call for call in capture.op_calls if call.start_ns is not None)
    return sum(
        end - start for start, end in union((_start(it), _start(it) + _ns(it)) for it in timed)
    )


def _origin(capture: Capture) -> int:
    """Return when the step starts; in runs of older versions, which do not say it, the earliest start of anything."""
    if capture.profile_start_ns is not None:
        return capture.profile_start_ns
    items: tuple[OpCall | Launch | Kernel, ...] = (
        *capture.op_calls,
        *capture.launches,
        *capture.kernels,
    )
    return min((it.start_ns for it in items if it.start_ns is not None), default=0)


def _threads(calls: Iterable[OpCall], origin: int) -> Iterable[Lane]:
    by_thread: dict[int, list[OpCall]] = defaultdict(list)
    for call in calls:
        by_thread[call.thread].append(call)
    for number, found in enumerate(by_thread.values(), start=1):
        name = "op calls" if len(by_thread) == 1 else f"op calls, thread {number}"
        yield from _lane(name, "host", found, origin)


def _streams(kernels: Iterable[Kernel], origin: int) -> Iterable[Lane]:
    for stream, found in streams(kernels).items():
        yield from _lane(
            "device" if stream is None else f"stream {stream}", "device", found, origin
        )


def _lane(
    name: str, part: Part, items: Iterable[OpCall | Launch | Kernel], origin: int
) -> Iterable[Lane]:
    """Yield the lane of these items, none where there are none."""
    spans = [Span(item, _start(item) - origin, _ns(item)) for item in items]
    if spans:
        ordered = sorted(spans, key=lambda span: (span.start_ns, -span.duration_ns))
        yield Lane(name, part, tuple(ordered))


def _start(item: OpCall | Launch | Kernel) -> int:
    return item.start_ns or 0


def _ns(item: OpCall | Launch | Kernel) -> int:
    return item.duration_ns or 0
