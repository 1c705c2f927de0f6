"""The timeline of both sides: one axis, facts, and what a pointer is told."""

import msgspec
import pytest

from compdiff.analysis import analyse
from compdiff.importers import Asked, import_traces
from compdiff.report.lane_bars import MOST_BARS, LaneBar
from compdiff.report.lookup import Lookup
from compdiff.report.timeline import TimelineView, make_timeline
from tests.builders import diff, kernel, run
from tests.importers.traces import DATA
from tests.report.examples import HOSTILE, Example, geglu, linear, traced
from tests.variants import planned_golden


def timeline(example: Example) -> TimelineView:
    """Return an example's timeline."""
    made = make_timeline(Lookup(*example))
    assert made is not None
    return made


def bars(view: TimelineView) -> dict[str, LaneBar]:
    """Return the bars of single items by their id."""
    return {
        bar.item: bar for side in view.sides for lane in side.lanes for bar in lane.bars if bar.item
    }


def test_both_sides_share_one_axis() -> None:
    """The longer side ends it, and the same time has the same place on both."""
    view = timeline(traced())
    assert [(tick.text, tick.x) for tick in view.ticks][:3] == [
        ("0 us", "0.00"), ("20 us", "16.67"), ("40 us", "33.33")
    ]  # fmt: skip
    found = bars(view)
    assert (found["k1"].x, found["k1"].width) == ("33.33", "66.67")
    assert (found["ek0"].x, found["ek0"].width) == ("25", "16.67")
    assert [side.end_x for side in view.sides] == ["83.33", "83.33"]


def test_bars_have_the_fate_of_their_item() -> None:
    """A right item has that of the op calls whose work it does, a left kernel that of its op call."""
    shades = {item: bar.shade for item, bar in bars(timeline(traced())).items()}
    assert shades == {
        "e0": "kept", "e1": "fused", "ek0": "kept", "ek1": "fused", "ek2": "no op call",
        "c0": "kept", "k0": "kept", "k1": "fused",
    }  # fmt: skip


def test_titles_tell_the_chain() -> None:
    """Composite op, op, launch and kernel, with own, total and device time."""
    found = bars(timeline(traced()))
    assert found["e0"].title == (
        "aten::mm (e0), kept\n30.0 us at 10.0 us, own 25.0 us, device 20.0 us in 1 kernel\n"
        "aten::linear > aten::mm > cudaLaunchKernel > gemm"
    )
    assert found["ek0"].title == (
        "gemm (ek0), kept\n20.0 us at 30.0 us, on stream 7, 5.00 us after its launch\n"
        "launched by aten::mm (e0)"
    )
    assert found["e1"].title.startswith(HOSTILE)


def test_facts_of_both_sides() -> None:
    """The device's facts stand beside each other; what a side lacks is a dash."""
    view = timeline(traced())
    facts = {fact.name: (fact.left.text, fact.right.text) for fact in view.facts}
    assert facts["Device busy"] == ("55.0 us, 55.0 % of the step", "100 us, 100 % of the step")
    assert facts["Kernels"] == ("3 kernels on 2 streams", "2 kernels on 1 stream")
    assert facts["Idle between kernels"] == ("20.0 us", "0 ns")
    assert facts["Largest gap"] == ("20.0 us, between", "-")
    assert facts["Several streams at once"] == ("5.00 us", "-")
    (gap,) = [fact.left.refs for fact in view.facts if fact.name == "Largest gap"]
    assert [ref.id for ref in gap] == ["ek0", "ek1"]


def test_more_device_time_than_the_step_is_no_share() -> None:
    """Kernels that go on when the host is done are not called more than everything."""
    run_, diff_ = traced()
    short = msgspec.structs.replace(run_.right, profile_wall_ns=50_000)
    view = timeline(Example(msgspec.structs.replace(run_, right=short), diff_))
    facts = {fact.name: fact.right.text for fact in view.facts}
    assert facts["Device busy"] == "100 us, longer than the step on the host"


@pytest.mark.parametrize("example", [linear, geglu, lambda: Example(*planned_golden("mlp_geglu"))])
def test_no_timeline_without_times(example: object) -> None:
    """Runs without a profile and plans have none."""
    assert callable(example)
    assert make_timeline(Lookup(*example())) is None


def test_one_side_without_times() -> None:
    """A run that ended before its compiled side was profiled still shows the eager side."""
    run_, diff_ = traced()
    bare = msgspec.structs.replace(run_.right, profile_wall_ns=None)
    view = timeline(Example(msgspec.structs.replace(run_, right=bare), diff_))
    assert [side.side for side in view.sides] == ["left"]
    assert {fact.right.text for fact in view.facts} == {"-"}


def test_many_streams_are_few_lanes() -> None:
    """The first streams have a lane each, the rest one together."""
    kernels = tuple(
        kernel(n, "k", kind="library", stream=n, start_ns=10 * n, duration_ns=5) for n in range(20)
    )
    side = msgspec.structs.replace(traced().run.right, op_calls=(), launches=(), kernels=kernels)
    origins: dict[str, tuple[str, ...] | str] = {f"k{n}": "by hand" for n in range(20)}
    view = timeline(Example(run(right=side), diff({}, origins)))
    (only,) = view.sides
    assert [lane.name for lane in only.lanes] == [
        *(f"stream {n}" for n in range(7)),
        "13 other streams",
    ]


def test_a_real_trace_is_few_bars() -> None:
    """A side never has more than can be drawn, and says that it piled up neighbours."""
    path = DATA / "tl-h100-bert-small.json.gz"
    imported = import_traces(path, None, Asked(whole=True))
    view = timeline(Example(imported, analyse(imported)))
    for side in view.sides:
        assert sum(len(lane.bars) for lane in side.lanes) <= MOST_BARS
    assert view.piled
