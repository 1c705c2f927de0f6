"""Statistics of timings. In: Samples and Timing. Out: intervals, a speedup and a verdict. Pure Python, no randomness.

Medians and their intervals come from order statistics: the k-th smallest and k-th largest of n samples enclose the median
with a probability that the binomial distribution gives, whatever the samples' distribution. Source: benchstat (Go) uses
the same interval for the median.
"""

from dataclasses import dataclass
from math import comb
from typing import Literal

from compdiff.model import Samples, Timing

CONFIDENCE = 0.95
# A difference below this share is not worth a verdict, however sure it is.
SMALLEST_EFFECT = 0.02
_FEWEST_PAIRS = 6

Verdict = Literal["faster", "slower", "same", "unclear"]


@dataclass(frozen=True)
class Interval:
    """A median with its 95 % interval, nanoseconds per call."""

    median_ns: int
    low_ns: int
    high_ns: int


@dataclass(frozen=True)
class Ratio:
    """A ratio of left to right time with its 95 % interval: above 1, right is faster."""

    median: float
    low: float
    high: float


def summary(samples: Samples) -> Interval:
    """Return the median time of a call and its interval."""
    median, low, high = median_interval([float(value) for value in samples.ns_per_call])
    return Interval(round(median), round(low), round(high))


def speedup(timing: Timing) -> Ratio:
    """Return left time over right time, pair by pair of neighbouring blocks, so that slow drift cancels."""
    return Ratio(*median_interval(_ratios(timing.left, timing.right)))


def noise_floor(timing: Timing) -> float:
    """Return how far apart two measurements of the left side lie: the 95 % quantile of |ratio - 1|, over all pairs' median.

    Measured as the speedup is, on left-against-left pairs: what this machine shows where there is no difference.
    """
    ratios = _ratios(timing.noise_a, timing.noise_b)
    if not ratios:
        return float("inf")
    _, low, high = median_interval(ratios)
    return max(abs(low - 1), abs(high - 1))


def verdict(timing: Timing) -> Verdict:
    """Return whether the right side is faster, slower, the same, or whether the samples cannot tell.

    Faster or slower needs both: an interval of the speedup that leaves out 1, and a median beyond the noise floor and
    2 %. The same needs an interval that lies within that band. Everything else is unclear.
    """
    if min(len(timing.left.ns_per_call), len(timing.right.ns_per_call)) < _FEWEST_PAIRS:
        return "unclear"
    ratio, band = speedup(timing), max(noise_floor(timing), SMALLEST_EFFECT)
    if ratio.low > 1 and ratio.median > 1 + band:
        return "faster"
    if ratio.high < 1 and ratio.median < 1 / (1 + band):
        return "slower"
    inside = ratio.low >= 1 / (1 + band) and ratio.high <= 1 + band
    return "same" if inside else "unclear"


def median_interval(values: list[float]) -> tuple[float, float, float]:
    """Return the median and the narrowest symmetric order-statistic interval of at least 95 %.

    With fewer than six values no such interval exists: the smallest and largest stand for it.

    Raises:
        ValueError: there is no value.
    """
    if not values:
        message = "no samples"
        raise ValueError(message)
    ordered = sorted(values)
    count = len(ordered)
    middle = count // 2
    median = ordered[middle] if count % 2 else (ordered[middle - 1] + ordered[middle]) / 2
    rank = _rank(count)
    return median, ordered[rank], ordered[count - 1 - rank]


def _rank(count: int) -> int:
    """Return how many values may be cut off at either end so that the rest still encloses the median, as often as asked."""
    total = 2**count
    tail = 0
    for rank in range(count // 2):
        tail += comb(count, rank)
        if 1 - 2 * tail / total < CONFIDENCE:
            return max(rank - 1, 0)
    return max(count // 2 - 1, 0)


def _ratios(left: Samples, right: Samples) -> list[float]:
    pairs = zip(left.ns_per_call, right.ns_per_call, strict=False)
    return [a / b for a, b in pairs if a > 0 and b > 0]
