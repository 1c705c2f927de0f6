"""What of a file bears on a window of its time. In: complete events as records, the window. Out: those of them that do.

A trace is often a hundred steps and one is shown: what is left out here never becomes an event.
"""

from collections.abc import Collection, Sequence

from compdiff.kineto.events import SLACK_NS, correlations
from compdiff.kineto.records import DEVICE_SPELLINGS, LAUNCH_SPELLINGS, NumberRecord

# A double may round microseconds since 1970 by a quarter of one.
_MARGIN_US = 1 + SLACK_NS / 1000


def around(
    records: Sequence[NumberRecord], left_out: Collection[str], start_ns: int, end_ns: int
) -> list[NumberRecord]:
    """Return the host's events that start in the window, those around these, and those inside these.

    Those without a time are among them, and may be more than that.
    """
    apart = DEVICE_SPELLINGS.union(left_out)
    first, last = start_ns / 1000 - _MARGIN_US, end_ns / 1000 + _MARGIN_US
    found: list[NumberRecord] = []
    later: list[NumberRecord] = []
    reach = last
    for record in records:
        start = record.ts
        if record.cat in apart:
            continue
        if start is None:
            found.append(record)
        elif start >= last:
            later.append(record)
        elif (end := start + (record.dur or 0)) >= first:
            found.append(record)
            if end > reach and start >= first:
                reach = end
    return found + [record for record in later if (record.ts or 0) < reach]


def kernels_of(
    records: Sequence[NumberRecord], launched: Collection[int | None], start_ns: int, end_ns: int
) -> list[NumberRecord]:
    """Return the device's events with one of these correlations, and those in the window that nothing launched."""
    device = [record for record in records if record.cat in DEVICE_SPELLINGS]
    first, last = start_ns / 1000 - _MARGIN_US, end_ns / 1000 + _MARGIN_US
    found: list[NumberRecord] = []
    unsure: list[tuple[NumberRecord, int | None]] = []
    for record, correlation in zip(device, _correlations(device), strict=True):
        if correlation in launched or record.ts is None:
            found.append(record)
        elif first <= record.ts <= last:
            unsure.append((record, correlation))
    return found + _never_launched(records, unsure, last)


def _never_launched(
    records: Sequence[NumberRecord], unsure: list[tuple[NumberRecord, int | None]], last: float
) -> list[NumberRecord]:
    """Return those of some kernels, each with its correlation, that no launch in the file has."""
    launches = [record for record in records if record.cat in LAUNCH_SPELLINGS]
    # Where clocks agree a launch comes before its kernel: the later ones are read only if one is still missing.
    for is_late in (False, True):
        if not unsure:
            break
        some = [it for it in launches if (it.ts is not None and it.ts > last) == is_late]
        elsewhere = set(_correlations(some)) - {None}
        unsure = [(record, number) for record, number in unsure if number not in elsewhere]
    return [record for record, _ in unsure]


def _correlations(records: Sequence[NumberRecord]) -> list[int | None]:
    return correlations([bytes(record.args) for record in records])
