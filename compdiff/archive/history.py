"""What changed from one run of a case to the next. In: two entries. Out: changes, each with both values as text."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

import msgspec

from compdiff.archive.entry import Entry, Span

Line: TypeAlias = tuple[str, ...]
"""What runs must have in common for one to be the next of the other."""


class EntryChange(msgspec.Struct, frozen=True):
    """A quantity that is not the same: its name, and both values, "" for one that is not known."""

    name: str
    before: str
    after: str


_WORDS = {True: "yes", False: "no", None: ""}
TIME = "time_ns"
"""The name of a change of the compiled side's time: its medians, in nanoseconds."""
_QUANTITIES: tuple[tuple[str, Callable[[Entry], object]], ...] = (
    ("torch", lambda entry: entry.torch),
    ("Triton", lambda entry: entry.triton),
    ("CUDA", lambda entry: entry.cuda),
    ("driver", lambda entry: entry.driver),
    ("Python", lambda entry: entry.python),
    ("host", lambda entry: entry.host),
    ("eager op calls", lambda entry: entry.left.op_calls),
    ("op calls", lambda entry: entry.right.op_calls),
    ("kernels", lambda entry: entry.right.kernels),
    ("graph breaks", lambda entry: entry.graph_breaks),
    ("recompiles", lambda entry: entry.recompiles),
    ("unexplained", lambda entry: entry.unexplained),
    ("outputs agree", lambda entry: _WORDS[entry.numerics_within]),
    ("failure", lambda entry: entry.failure),
)


def line_of(entry: Entry) -> Line:
    """Return what a run must share with another to be compared with it: case, parameters, options, dtype, device."""
    device = entry.target or entry.device_name
    return (entry.case, entry.params, entry.options, entry.dtype, entry.basis, device)


def changes(before: Entry, after: Entry) -> Iterator[EntryChange]:
    """Yield what differs between two runs of one line: software, counts, rules, and time where its intervals lie apart.

    Times of different hosts are not compared: nobody can say what a difference comes from.
    """
    for name, value_of in _QUANTITIES:
        values = str(value_of(before)), str(value_of(after))
        if values[0] != values[1]:
            yield EntryChange(name, *values)
    for rule in sorted(before.rules.keys() | after.rules.keys()):
        counts = before.rules.get(rule, 0), after.rules.get(rule, 0)
        if counts[0] != counts[1]:
            yield EntryChange(rule, *map(str, counts))
    if before.host == after.host and _are_apart(before.right.time, after.right.time):
        yield EntryChange(TIME, _ns(before.right.time), _ns(after.right.time))


def _are_apart(before: Span | None, after: Span | None) -> bool:
    if before is None or after is None:
        return False
    return before.high_ns < after.low_ns or after.high_ns < before.low_ns


def _ns(span: Span | None) -> str:
    return str(span.median_ns) if span else ""
