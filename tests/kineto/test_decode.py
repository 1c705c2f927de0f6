"""Tests of compdiff.kineto."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compdiff.errors import FormatError
from compdiff.kineto import decode, nanoseconds


def _event(name: str, start: float, duration: float, **extra: object) -> dict[str, object]:
    return {
        "ph": "X",
        "cat": "cpu_op",
        "name": name,
        "pid": 1,
        "tid": 1,
        "ts": start,
        "dur": duration,
        **extra,
    }


def _decode(*events: dict[str, object]) -> list[str]:
    found = decode(json.dumps({"traceEvents": list(events)}).encode())
    return [f"{event.name}<{event.parent.name if event.parent else ''}" for event in found]


@given(st.integers(min_value=-(10**18), max_value=10**18))
def test_digits_become_the_same_nanoseconds(value: int) -> None:
    """A time written with three decimals of a microsecond is read without rounding."""
    sign, size = ("-" if value < 0 else ""), abs(value)
    assert nanoseconds(f"{sign}{size // 1000}.{size % 1000:03}".encode()) == value


@pytest.mark.parametrize(
    ("text", "expected"),
    [(b"12", 12_000), (b"1.5", 1_500), (b"0.25", 250), (b'"3"', 3_000), (b"1e3", 1_000_000)],
)
def test_short_forms_of_microseconds(text: bytes, expected: int) -> None:
    """Whole, short, quoted and exponent forms are read."""
    assert nanoseconds(text) == expected


def test_events_nest_by_time_on_their_thread() -> None:
    """An event inside another on the same thread is its child; one on another thread is not."""
    found = _decode(_event("inner", 2, 1), _event("outer", 1, 5), _event("other", 2, 1, tid=2))
    assert sorted(found) == ["inner<outer", "other<", "outer<"]


def test_events_that_touch_do_not_nest() -> None:
    """An event that starts where another ends follows it."""
    assert _decode(_event("first", 0, 2), _event("second", 2, 2)) == ["first<", "second<"]


def test_device_events_do_not_nest() -> None:
    """A kernel is nobody's child: it belongs to its launch by correlation."""
    kernel = _event("gemm", 1, 1, cat="kernel", args={"correlation": 7})
    events = decode(json.dumps({"traceEvents": [_event("op", 0, 5), kernel]}).encode())
    assert [event.parent for event in events] == [None, None]
    assert events[1].correlation == 7


@pytest.mark.parametrize("data", [b"", b"{", b'{"traceEvents": 3}', b"\xff\xfe"])
def test_other_bytes_are_refused(data: bytes) -> None:
    """Bytes that are no trace give a FormatError."""
    with pytest.raises(FormatError, match="not a Kineto trace"):
        decode(data)
