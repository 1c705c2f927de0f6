"""What changed between two runs of a case."""

import msgspec

from compdiff.archive import Entry
from compdiff.archive.entry import SideNumbers, Span
from compdiff.archive.history import EntryChange, changes
from tests.archive.test_references import entry


def timed(median_ns: int, host: str = "here") -> Entry:
    """Return a run with this time and an interval of ten nanoseconds around it."""
    span = Span(median_ns=median_ns, low_ns=median_ns - 5, high_ns=median_ns + 5, samples=9)
    right = SideNumbers(op_calls=1, launches=0, kernels=2, time=span)
    return msgspec.structs.replace(entry("aaaa", "one"), right=right, host=host)


def test_equal_runs_have_no_changes() -> None:
    """Times whose intervals overlap are no change."""
    assert list(changes(timed(100), timed(108))) == []


def test_what_differs_is_named() -> None:
    """Software, counts, rules and time, each with both values."""
    before = msgspec.structs.replace(timed(100), torch="2.13.0", rules={"a": 2, "b": 1})
    after = msgspec.structs.replace(
        timed(200), torch="2.14.0", rules={"b": 1, "c": 1}, graph_breaks=1
    )

    assert list(changes(before, after)) == [
        EntryChange("torch", "2.13.0", "2.14.0"),
        EntryChange("graph breaks", "0", "1"),
        EntryChange("a", "2", "0"),
        EntryChange("c", "0", "1"),
        EntryChange("time_ns", "100", "200"),
    ]


def test_times_of_two_hosts_are_not_compared() -> None:
    """Nobody can say what the difference comes from."""
    found = list(changes(timed(100), timed(200, host="there")))

    assert found == [EntryChange("host", "here", "there")]
