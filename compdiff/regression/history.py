"""Slow drift and sudden steps in a series. In: one value a run, oldest first. Out: level segments, and where each starts.

Segments come from optimal partitioning: the split with the least sum of squares, each further segment paying a penalty
that grows with the noise. Values far from their neighbours are drawn in first, so that one bad run makes no segment.
Source: Jackson et al. (2005), optimal partitioning; Yao (1988), the penalty.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp, log
from statistics import median

_FEWEST = 3
"""The shortest segment: two runs may both be bad ones."""
_PENALTY = 4.0
_REACH = 3.0
# Of a normal distribution: the standard deviation over the median absolute deviation, and over that of differences.
_MAD = 1.4826
_SMALLEST_SPREAD = 1e-3


@dataclass(frozen=True)
class Segment:
    """Runs `start` to `stop` (exclusive) at one level, their median."""

    start: int
    stop: int
    level: float


def segments(times: Sequence[float], smallest: float = 0.02) -> tuple[Segment, ...]:
    """Return the levels of a series of positive values, oldest first; neighbours differ by more than `smallest`.

    Raises:
        ValueError: a value is not positive.
    """
    values = [log(value) for value in times]
    if not values:
        return ()
    spread = max(_spread(values), _SMALLEST_SPREAD)
    bounds = _partition(_drawn_in(values, spread), _PENALTY * spread**2 * max(log(len(values)), 1))
    found = [Segment(a, b, exp(median(values[a:b]))) for a, b in pairwise(bounds)]
    return tuple(_merged(found, values, smallest))


def drift(found: Sequence[Segment]) -> float:
    """Return how far the last level lies above the lowest before it, as a share: 0.05 is 5 % slower."""
    if len(found) < 2:  # noqa: PLR2004 - one level cannot drift
        return 0.0
    return found[-1].level / min(one.level for one in found[:-1]) - 1


def _spread(values: Sequence[float]) -> float:
    """Return the noise, from the differences of neighbours: steps and drift hardly count."""
    steps = [abs(b - a) for a, b in pairwise(values)]
    return _MAD * median(steps) / 2**0.5 if steps else 0.0


def _drawn_in(values: Sequence[float], spread: float) -> list[float]:
    """Return the values, none farther from the median of its neighbourhood than noise reaches."""
    result = []
    for index, value in enumerate(values):
        middle = median(values[max(index - 2, 0) : index + 3])
        reach = _REACH * spread
        result.append(min(max(value, middle - reach), middle + reach))
    return result


def _partition(values: Sequence[float], penalty: float) -> list[int]:
    """Return the bounds of the cheapest segments: 0, each start, the length."""
    count = len(values)
    if count < 2 * _FEWEST:
        return [0, count]
    sums, squares = [0.0], [0.0]
    for value in values:
        sums.append(sums[-1] + value)
        squares.append(squares[-1] + value * value)

    def cost(start: int, stop: int) -> float:
        total = sums[stop] - sums[start]
        return squares[stop] - squares[start] - total * total / (stop - start)

    best, came_from = [0.0] + [float("inf")] * count, [0] * (count + 1)
    for stop in range(1, count + 1):
        for start in range(max(stop - _FEWEST + 1, 0)):
            candidate = best[start] + cost(start, stop) + penalty
            if candidate < best[stop]:
                best[stop], came_from[stop] = candidate, start
    bounds = [count]
    while bounds[-1] > 0:
        bounds.append(came_from[bounds[-1]])
    return bounds[::-1]


def _merged(found: list[Segment], values: Sequence[float], smallest: float) -> list[Segment]:
    """Return the segments, neighbours that hardly differ as one, the closest first."""
    while len(found) > 1:
        gaps = [abs(log(b.level / a.level)) for a, b in pairwise(found)]
        closest = min(range(len(gaps)), key=gaps.__getitem__)
        if gaps[closest] >= log(1 + smallest):
            break
        start, stop = found[closest].start, found[closest + 1].stop
        found[closest : closest + 2] = [Segment(start, stop, exp(median(values[start:stop])))]
    return found
