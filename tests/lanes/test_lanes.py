"""Captures as lanes on one clock."""

from pathlib import Path

import pytest

from compdiff.importers import Asked, import_traces
from compdiff.lanes.lanes import chains, host_ns, make_lanes
from compdiff.model import Capture
from tests.builders import capture, kernel, op
from tests.importers.traces import DATA
from tests.report.examples import traced
from tests.variants import golden


def named(side: Capture) -> dict[str, list[tuple[int, int]]]:
    """Return (start, duration) of the spans of each lane."""
    made = make_lanes(side)
    assert made is not None
    return {
        lane.name: [(span.start_ns, span.duration_ns) for span in lane.spans] for lane in made.lanes
    }


def test_threads_launches_and_streams() -> None:
    """Host first, by thread; then launches; then one lane for each stream."""
    assert named(traced().run.left) == {
        "op calls, thread 1": [(10_000, 30_000)],
        "op calls, thread 2": [(50_000, 40_000)],
        "launches": [(20_000, 5_000), (60_000, 4_000), (92_000, 1_000)],
        "stream 7": [(30_000, 20_000), (70_000, 25_000)],
        "stream 8": [(90_000, 15_000)],
    }


def test_times_count_from_the_start_of_the_step() -> None:
    """Measured captures have the profiler's clock, which starts anywhere."""
    side = capture(
        op_calls=(op(0, start_ns=7_010, duration_ns=5),),
        kernels=(kernel(0, start_ns=7_020, duration_ns=3),),
        profile_start_ns=7_000,
        profile_wall_ns=50,
    )
    assert named(side) == {"op calls": [(10, 5)], "C++ kernels": [(20, 3)]}


def test_the_axis_holds_what_runs_after_the_step() -> None:
    """Kernels may run on when the host is done."""
    made = make_lanes(traced().run.right)
    assert made is not None
    assert (made.wall_ns, made.end_ns) == (100_000, 120_000)


def test_runs_of_older_versions_start_with_their_first_event() -> None:
    """They do not say when the step started."""
    starts = [spans[0][0] for spans in named(golden("mlp_geglu").right).values()]
    assert min(starts) == 0


def test_no_lanes_without_times() -> None:
    """A run that ended before its profile has none."""
    assert make_lanes(capture(op_calls=(op(0),))) is None


def test_an_op_call_leads_to_launches_and_kernels() -> None:
    """The chain of an op call goes down to the device; what no op call launched is in none."""
    found = chains(traced().run.left)
    assert {number: [it.name for it in chain.launches] for number, chain in found.items()} == {
        0: ["cudaLaunchKernel"],
        1: ["cudaLaunchKernel"],
    }
    assert [chain.device_ns for chain in found.values()] == [20_000, 25_000]


def test_the_host_is_counted_once() -> None:
    """Op calls on two threads at once, or one inside another, are one time on the host."""
    calls = (
        op(0, start_ns=0, duration_ns=10),
        op(1, start_ns=2, duration_ns=3),
        op(2, start_ns=8, duration_ns=10, thread=1),
    )
    assert host_ns(capture(op_calls=calls)) == 18


@pytest.mark.parametrize("path", sorted(DATA.glob("*.json.gz")), ids=lambda path: path.name)
def test_every_item_of_a_real_trace_is_in_one_lane(path: Path) -> None:
    """Nothing is lost or shown twice, and the axis holds all of it."""
    side = import_traces(path, None, Asked()).left
    made = make_lanes(side)
    assert made is not None
    items = [span.item for lane in made.lanes for span in lane.spans]
    assert len(items) == len(side.op_calls) + len(side.launches) + len(side.kernels)
    assert len({id(item) for item in items}) == len(items)
    assert (
        max((span.end_ns for lane in made.lanes for span in lane.spans), default=0) <= made.end_ns
    )
