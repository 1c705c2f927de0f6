"""The rewrites that matter most. In: Lookup, Folding. Out: a few rows, those with the largest change of time first.

Times are estimates of a plan, or else of the profiled step: what kernels took on the device, or op calls on the CPU.
Repeated rewrites count together. Without times, what counts is how many op calls fewer there are.
"""

from collections.abc import Callable, Mapping
from itertools import chain

import msgspec

from compdiff.model import Kernel, Rewrite
from compdiff.report.estimates import saved_text
from compdiff.report.folding import Folding
from compdiff.report.headline import device_ns
from compdiff.report.lookup import Lookup
from compdiff.report.naming import counted_text, short_place
from compdiff.report.quantities import count_text, duration_text
from compdiff.work import NO_WORK, Work, kernels_by_rewrite, rewrite_works

_MOST = 3
_ESTIMATED = "by estimated time and memory traffic; nothing was run"
_ON_DEVICE = "by time of kernels in the profiled step"
_ON_HOST = "by time in the profiled step, which slows op calls down"
_COUNTED = "by op calls saved: this run has no times"


class Gain(msgspec.Struct, frozen=True, gc=False):
    """A rewrite with its repetitions: what it replaced by what, and the change as text."""

    id: str
    rule: str
    count: int
    place: str
    before: str
    after: str
    change: str


class Gains(msgspec.Struct, frozen=True):
    """The rewrites that matter most, and by what."""

    by: str
    rows: tuple[Gain, ...]
    others: int


class _Change(msgspec.Struct, frozen=True):
    """How much a rewrite changed, for the order, and in words."""

    amount: int
    text: str


def make_gains(lookup: Lookup, folding: Folding) -> Gains | None:
    """Return the rewrites that matter most; None where there is none, and where two runs are compared."""
    if lookup.diff.comparison is not None or not lookup.diff.rewrites or lookup.run.failure:
        return None
    by, change = _measure(lookup)
    found = []
    for rewrite in lookup.diff.rewrites:
        if folding.shown(rewrite.id):
            same = [rewrite.id, *folding.repeats.get(rewrite.id, ())]
            found.append(
                (change([lookup.rewrite_by_id[name] for name in same]), rewrite, len(same))
            )
    found.sort(key=lambda row: -abs(row[0].amount))
    rows = tuple(_gain(lookup, *row) for row in found[:_MOST] if row[0].amount)
    return Gains(by, rows, len(found) - len(rows)) if rows else None


def _gain(lookup: Lookup, change: _Change, rewrite: Rewrite, count: int) -> Gain:
    return Gain(
        id=rewrite.id,
        rule=rewrite.rule,
        count=count,
        place=short_place(rewrite.source, lookup.run.case.file) if rewrite.source else "",
        before=_names(lookup, (*rewrite.left, *rewrite.shared)),
        after=_names(lookup, rewrite.right),
        change=change.text,
    )


def _names(lookup: Lookup, items: tuple[str, ...]) -> str:
    return counted_text(lookup.names.get(item, item) for item in items) or "nothing"


def _measure(lookup: Lookup) -> tuple[str, Callable[[list[Rewrite]], _Change]]:
    """Return what rewrites are compared by, in words and as a function."""
    run = lookup.run
    works = rewrite_works(run, lookup.diff)
    if works:
        return _ESTIMATED, lambda same: _estimated(works, same)
    if device_ns(run.left) and device_ns(run.right):
        kernels = kernels_by_rewrite(run, lookup.diff)
        return _ON_DEVICE, lambda same: _timed(*_kernel_times(kernels, same))
    if any(call.duration_ns for call in run.left.op_calls):
        kernels = kernels_by_rewrite(run, lookup.diff)
        return _ON_HOST, lambda same: _timed(
            _left_ns(lookup, same), _kernel_times(kernels, same)[1] + _right_ns(lookup, same)
        )
    return _COUNTED, _counted


def _estimated(works: Mapping[str, tuple[Work, Work]], same: list[Rewrite]) -> _Change:
    pairs = [works.get(rewrite.id, (NO_WORK, NO_WORK)) for rewrite in same]
    before = sum((pair[0] for pair in pairs), NO_WORK)
    after = sum((pair[1] for pair in pairs), NO_WORK)
    times = _timed(before.ns, after.ns)
    return _Change(times.amount, f"{times.text}; memory traffic: {saved_text(before, after)}")


def _timed(before: int, after: int) -> _Change:
    saved = before - after
    words = f"{duration_text(abs(saved))} {'less' if saved >= 0 else 'more'}"
    return _Change(saved, f"{duration_text(before)} -> {duration_text(after)} ({words})")


def _counted(same: list[Rewrite]) -> _Change:
    saved = sum(len(rewrite.left) - len(rewrite.right) for rewrite in same)
    words = f"{count_text(abs(saved), 'item')} {'fewer' if saved >= 0 else 'more'}"
    return _Change(saved, words)


def _kernel_times(
    kernels: Mapping[str, tuple[list[Kernel], list[Kernel]]], same: list[Rewrite]
) -> tuple[int, int]:
    pairs = [kernels.get(rewrite.id, ([], [])) for rewrite in same]
    before = chain.from_iterable(pair[0] for pair in pairs)
    after = chain.from_iterable(pair[1] for pair in pairs)
    return sum(it.duration_ns for it in before), sum(it.duration_ns for it in after)


def _left_ns(lookup: Lookup, same: list[Rewrite]) -> int:
    items = chain.from_iterable(rewrite.left for rewrite in same)
    return sum(lookup.left_ops[item].duration_ns or 0 for item in items if item in lookup.left_ops)


def _right_ns(lookup: Lookup, same: list[Rewrite]) -> int:
    """Return the time of right op calls that these rewrites made; one that several name counts for the first."""
    return sum(
        lookup.right_ops[item].duration_ns or 0
        for rewrite in same
        for item in rewrite.right
        if item in lookup.right_ops and lookup.rewrites_of[item][0] == rewrite.id
    )
