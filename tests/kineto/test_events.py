"""Events nested by time, and times that are no times."""

import pytest

from compdiff.kineto import read
from tests.importers.traces import event, trace_bytes


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"dur": -5}, "events with a negative duration"),
        ({"dur": None}, "events without a duration"),
        ({"dur": "soon"}, "events without a duration"),
    ],
)
def test_durations_that_are_none(fields: dict[str, object], said: str) -> None:
    """The event stays, with no duration, and is counted."""
    found = read(trace_bytes(event("aten::mm", 10, 5) | fields))
    assert [one.duration_ns for one in found.events] == [0]
    assert found.odd[said] == 1


def test_a_duration_as_text() -> None:
    """Digits in quotes are a duration."""
    assert read(trace_bytes(event("aten::mm", 10, 5) | {"dur": "7"})).events[0].duration_ns == 7_000


def test_an_event_without_a_start_is_left_out() -> None:
    """It has no place in time; it is counted."""
    found = read(trace_bytes(event("aten::mm", 10, 5) | {"ts": None}, event("aten::add", 1, 1)))
    assert [one.name for one in found.events] == ["aten::add"]
    assert found.odd["events without a start"] == 1


def test_clocks_may_differ_by_a_little() -> None:
    """A child that ends a quarter of a microsecond after its parent is its child."""
    found = read(trace_bytes(event("outer", 0, 10), event("inner", 5, 5.25)))
    assert found.events[1].parent is found.events[0]
    assert found.odd.total() == 0


def test_siblings_that_overlap_stand_side_by_side() -> None:
    """An event that ends long after the one it starts in is not inside it, and the reader is told."""
    found = read(trace_bytes(event("first", 0, 10), event("second", 5, 50)))
    assert [one.parent for one in found.events] == [None, None]
    assert found.odd["events that end after the event they start in"] == 1


def test_equal_intervals_nest_in_the_order_of_the_file() -> None:
    """Two events at the same time are outer and inner, as they were written."""
    found = read(trace_bytes(event("outer", 0, 10), event("inner", 0, 10)))
    assert found.events[1].parent is found.events[0]


def test_old_names_of_categories() -> None:
    """Exports of 2021 have other names for the same things."""
    old = [
        event("a", 0, 1, cat="Operator"),
        event("b", 2, 1, cat="Kernel"),
        event("c", 4, 1, cat="Runtime"),
    ]
    assert [one.category for one in read(trace_bytes(*old)).events] == [
        "cpu_op",
        "kernel",
        "cuda_runtime",
    ]


def test_python_frames_can_be_left_out() -> None:
    """They are most of a file that was recorded with stacks."""
    frames = [event(f"f.py({n}): f", n, 1, cat="python_function") for n in range(50)]
    data = trace_bytes(event("aten::mm", 0, 1), *frames)
    assert len(read(data).events) == 51
    assert len(read(data, python_frames=False).events) == 1


@pytest.mark.parametrize("value", [0, -1, None, "7", True])
def test_correlations_that_stand_for_none(value: object) -> None:
    """Zero, minus one and what is no number tie nothing together."""
    found = read(trace_bytes(event("k", 0, 1, cat="kernel", args={"correlation": value})))
    assert (
        found.events[0].correlation in {None, 1}
        if value is True
        else found.events[0].correlation is None
    )
