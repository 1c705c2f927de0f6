"""What a device's lane shows. In: Capture. Out: busy and idle time, the largest gap, queueing delay, overlap of streams.

The findings and the report's timeline both read these, so that a page has one number for one thing.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from statistics import median

import msgspec

from compdiff.model import Capture, Kernel, Launch

Interval = tuple[int, int]


class Gap(msgspec.Struct, frozen=True):
    """The longest time in which no kernel ran, between two kernels (ids)."""

    ns: int
    after: int
    before: int


class Queueing(msgspec.Struct, frozen=True):
    """How long kernels waited from the end of their launch: 0 for one that started before its launch returned."""

    median_ns: int
    longest_ns: int
    longest: int
    kernels: int


class DeviceFacts(msgspec.Struct, frozen=True):
    """What the device did. `share` is that of the step on the host, `idle_ns` between the first and the last kernel.

    `wait_ns` is that from the first op call to the first kernel. `overlap_ns` is how long kernels ran on two streams or
    more, None where there is one stream.
    """

    kernels: int
    streams: int
    busy_ns: int
    share: float | None
    idle_ns: int
    wait_ns: int | None
    gap: Gap | None
    queueing: Queueing | None
    overlap_ns: int | None


def device_facts(capture: Capture) -> DeviceFacts | None:
    """Return what the device's lane shows, or None where no kernel has a time."""
    kernels = on_device(capture)
    if not kernels or not has_times(capture):
        return None
    by_stream = streams(kernels)
    first, end = min(kernel.start_ns for kernel in kernels), max(map(_end, kernels))
    busy = covered_ns(kernels)
    return DeviceFacts(
        kernels=len(kernels),
        streams=len(by_stream),
        busy_ns=busy,
        share=busy_share(capture),
        idle_ns=end - first - busy,
        wait_ns=first_wait_ns(capture),
        gap=_largest_gap(kernels),
        queueing=_queueing(capture, kernels),
        overlap_ns=_overlap_ns(list(by_stream.values())) if len(by_stream) > 1 else None,
    )


def on_device(capture: Capture) -> list[Kernel]:
    """Return the kernels that ran on a device, not as C++ functions on the host."""
    return [kernel for kernel in capture.kernels if kernel.kind != "cpp"]


def has_times(capture: Capture) -> bool:
    """Return whether the capture's profiled step has times: a plan has none, nor has a run that ended before its profile."""
    return capture.basis != "planned" and bool(capture.profile_wall_ns)


def streams(kernels: Iterable[Kernel]) -> dict[int | None, list[Kernel]]:
    """Return kernels by stream, the streams in the order in which they first ran something."""
    found: dict[int | None, list[Kernel]] = defaultdict(list)
    for kernel in sorted(kernels, key=lambda it: it.start_ns):
        found[kernel.stream].append(kernel)
    return dict(found)


def busy_share(capture: Capture) -> float | None:
    """Return the share of the profiled step in which a kernel ran, or None where no device ran kernels."""
    if not capture.launches or not capture.profile_wall_ns or not capture.kernels:
        return None
    return min(1.0, covered_ns(capture.kernels) / capture.profile_wall_ns)


def covered_ns(kernels: Iterable[Kernel]) -> int:
    """Return for how long at least one kernel ran: kernels on several streams overlap."""
    return sum(end - start for start, end in union(_interval(kernel) for kernel in kernels))


def union(intervals: Iterable[Interval]) -> list[Interval]:
    """Return the time that at least one interval covers, as intervals that do not touch, in order."""
    found: list[Interval] = []
    for start, end in sorted(intervals):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((start, end))
    return found


def first_wait_ns(capture: Capture) -> int | None:
    """Return how long after the first op call the first kernel started, None where there is not one of each with a time."""
    starts = [call.start_ns for call in capture.op_calls if call.start_ns is not None]
    kernels = on_device(capture)
    if not kernels or not starts or not has_times(capture):
        return None
    return min(kernel.start_ns for kernel in kernels) - min(starts)


def queued_ns(launches: Mapping[int, Launch], kernel: Kernel) -> int | None:
    """Return how long a kernel waited from the end of its launch, 0 if it did not, None where no launch is known."""
    launch = None if kernel.launch is None else launches.get(kernel.launch)
    if launch is None:
        return None
    return max(0, kernel.start_ns - launch.start_ns - launch.duration_ns)


def _largest_gap(kernels: Sequence[Kernel]) -> Gap | None:
    """Return the longest time without a kernel between two, None where there is none."""
    largest: Gap | None = None
    last: Kernel | None = None
    for kernel in sorted(kernels, key=lambda it: it.start_ns):
        if last is not None:
            ns = kernel.start_ns - _end(last)
            if ns > (largest.ns if largest else 0):
                largest = Gap(ns, last.id, kernel.id)
        if last is None or _end(kernel) > _end(last):
            last = kernel
    return largest


def _queueing(capture: Capture, kernels: Sequence[Kernel]) -> Queueing | None:
    launches = {launch.id: launch for launch in capture.launches}
    delays = [(queued_ns(launches, kernel), kernel.id) for kernel in kernels]
    known = [(delay, number) for delay, number in delays if delay is not None]
    if not known:
        return None
    longest, number = max(known, key=lambda found: (found[0], -found[1]))
    return Queueing(round(median(delay for delay, _ in known)), longest, number, len(known))


def _overlap_ns(by_stream: Sequence[Sequence[Kernel]]) -> int:
    """Return how long kernels ran on two streams or more."""
    changes = sorted(
        (moment, change)
        for kernels in by_stream
        for start, end in union(map(_interval, kernels))
        for moment, change in ((start, 1), (end, -1))
    )
    overlap, running = 0, 0
    for (moment, change), (following, _) in pairwise(changes):
        running += change
        overlap += following - moment if running > 1 else 0
    return overlap


def _interval(kernel: Kernel) -> Interval:
    return kernel.start_ns, _end(kernel)


def _end(kernel: Kernel) -> int:
    return kernel.start_ns + kernel.duration_ns
