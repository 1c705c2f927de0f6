"""At which level the times of a case lay, and since when. In: entries of an archive, oldest first. Out: Levels by host.

What is followed is the compiled side's time over the eager side's of the same run: the machine's clock is in both.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from compdiff.archive.entry import Entry
from compdiff.regression.history import segments

# Finding the levels takes time that grows with the square of their number.
_MOST = 500


@dataclass(frozen=True)
class Level:
    """Runs of one host whose times lie at one level: `ratio` is compiled over eager, `first` the run it begins with.

    `change` is the share by which it lies above the level before; 0.0 for the first.
    """

    host: str
    first: Entry
    runs: int
    ratio: float
    change: float = 0.0


def levels(entries: Iterable[Entry]) -> tuple[Level, ...]:
    """Return the levels of the newest runs of each host, oldest first; of a host with no times none."""
    timed = [entry for entry in entries if ratio_of(entry) is not None]
    by_host = groupby(sorted(timed, key=lambda entry: entry.host), key=lambda entry: entry.host)
    return tuple(level for _, runs in by_host for level in _levels(list(runs)[-_MOST:]))


def ratio_of(entry: Entry) -> float | None:
    """Return compiled over eager time; None where either is not known, or is an estimate."""
    left, right = entry.left.time, entry.right.time
    if left is None or right is None or left.median_ns <= 0 or right.median_ns <= 0:
        return None
    return right.median_ns / left.median_ns


def _levels(entries: Sequence[Entry]) -> list[Level]:
    found = segments([ratio_of(entry) or 1.0 for entry in entries])
    made = [
        Level(one_of.host, one_of, part.stop - part.start, part.level)
        for part in found
        for one_of in (entries[part.start],)
    ]
    return [
        *made[:1],
        *(
            Level(after.host, after.first, after.runs, after.ratio, after.ratio / before.ratio - 1)
            for before, after in pairwise(made)
        ),
    ]
