"""What a device's lane shows, on lanes made by hand."""

import pytest

from compdiff.lanes.device import (
    Gap,
    Queueing,
    busy_share,
    covered_ns,
    device_facts,
    first_wait_ns,
    union,
)
from compdiff.model import Kernel, Launch
from tests.builders import capture, op

LAUNCH = Launch(id=0, name="cudaLaunchKernel", start_ns=0, duration_ns=5)


def ran(number: int, start: int, duration: int, **fields: object) -> Kernel:
    """Return a kernel on the device, launched by the only launch."""
    made = {"id": number, "name": "k", "kind": "library", "launch": 0, "stream": 7, **fields}
    return Kernel(start_ns=start, duration_ns=duration, **made)  # type: ignore[arg-type]


def test_busy_share_needs_a_device() -> None:
    """A side without launches has no busy share."""
    assert busy_share(capture(kernels=(ran(0, 0, 10),), profile_wall_ns=100)) is None


def test_busy_share_counts_overlap_once() -> None:
    """Two kernels at the same time on two streams keep the device busy once."""
    kernels = (ran(0, 0, 10), ran(1, 5, 10, stream=8))
    side = capture(kernels=kernels, launches=(LAUNCH,), profile_wall_ns=30)
    assert busy_share(side) == pytest.approx(0.5)
    assert covered_ns(kernels) == 15


def test_intervals_that_touch_are_one() -> None:
    """Back to back is no gap, and one inside another adds nothing."""
    assert union([(5, 9), (0, 5), (1, 2), (10, 12)]) == [(0, 9), (10, 12)]


def test_facts_of_one_stream() -> None:
    """Idle time lies between the first and the last kernel; the gap names the kernels around it."""
    kernels = (ran(0, 20, 10), ran(1, 35, 5), ran(2, 60, 10))
    side = capture(
        op_calls=(op(0, start_ns=4, duration_ns=9),),
        kernels=kernels,
        launches=(LAUNCH,),
        profile_wall_ns=100,
    )
    facts = device_facts(side)
    assert facts is not None
    assert (facts.kernels, facts.streams, facts.busy_ns, facts.idle_ns) == (3, 1, 25, 25)
    assert facts.gap == Gap(20, after=1, before=2)
    assert facts.queueing == Queueing(median_ns=30, longest_ns=55, longest=2, kernels=3)
    assert facts.overlap_ns is None
    assert facts.wait_ns == first_wait_ns(side) == 16


def test_a_gap_is_one_of_the_whole_device() -> None:
    """While another stream runs, nothing is idle; the kernel that ran last before the gap is named."""
    kernels = (ran(0, 0, 50), ran(1, 10, 5, stream=8), ran(2, 40, 20, stream=8), ran(3, 70, 5))
    facts = device_facts(capture(kernels=kernels, launches=(LAUNCH,), profile_wall_ns=100))
    assert facts is not None
    assert facts.gap == Gap(10, after=2, before=3)
    assert facts.overlap_ns == 15


def test_a_kernel_that_starts_before_its_launch_returns_did_not_wait() -> None:
    """The runtime may return late: that is no negative delay."""
    facts = device_facts(capture(kernels=(ran(0, 2, 9),), launches=(LAUNCH,), profile_wall_ns=100))
    assert facts is not None
    assert facts.queueing == Queueing(median_ns=0, longest_ns=0, longest=0, kernels=1)


def test_no_launch_no_delay() -> None:
    """Of kernels whose launch is not known nobody can say how long they waited."""
    facts = device_facts(capture(kernels=(ran(0, 2, 9, launch=None),), profile_wall_ns=100))
    assert facts is not None
    assert facts.queueing is None


@pytest.mark.parametrize(
    "fields",
    [
        {"basis": "planned", "profile_wall_ns": 100, "kernels": (ran(0, 2, 9),)},
        {"kernels": (ran(0, 2, 9),)},
        {"profile_wall_ns": 100, "kernels": (ran(0, 2, 9, kind="cpp"),)},
    ],
)
def test_no_facts_without_times_on_a_device(fields: dict[str, object]) -> None:
    """A plan, a run that ended before its profile and C++ functions on the host have none."""
    assert device_facts(capture(**fields)) is None  # type: ignore[arg-type]
