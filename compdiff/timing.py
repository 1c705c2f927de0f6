"""Statistics of timings. In: Samples and Timing. Out: intervals, a speedup, a verdict.

Medians and their intervals come from order statistics: the k-th smallest and the k-th largest of n
samples enclose the median with a probability that the binomial distribution gives, whatever the
distribution of the samples. Ratios are handled as logarithms, so that swapping the sides mirrors
every result. Source: benchstat (golang.org/x/perf/benchmath: medians with order-statistic
intervals, the Mann-Whitney U test).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, erfc, exp, expm1, inf, log, log1p, sqrt
from typing import Literal

from compdiff.model import Samples, Timing

CONFIDENCE = 0.95
# A difference below this share is not worth a verdict, however sure it is.
SMALLEST_EFFECT = 0.02
# Of two sides that are alike, the test calls so many different.
ALPHA = 0.01
# Where the left side differs from itself by more than this, "same" would say nothing.
NOISIEST_SAME = 0.10
# Where other processes used more than this share of the CPU, a call's threads may have waited for theirs.
BUSIEST_MACHINE = 0.2
FEWEST_PAIRS = 6
FEWEST_NOISE_PAIRS = 3

Verdict = Literal["faster", "slower", "same", "unclear"]


@dataclass(frozen=True)
class Interval:
    """A median with its 95 % interval, nanoseconds per call."""

    median_ns: int
    low_ns: int
    high_ns: int


@dataclass(frozen=True)
class Ratio:
    """Left time over right time with its 95 % interval: above 1, right is faster."""

    median: float
    low: float
    high: float


def summary(samples: Samples) -> Interval:
    """Return the median time of a call and its interval.

    Raises:
        ValueError: there is no sample.
    """
    median, low, high = median_interval([float(value) for value in samples.ns_per_call])
    return Interval(round(median), round(low), round(high))


def speedup(timing: Timing) -> Ratio:
    """Return the median of left over right time, and the order-statistic interval of that median.

    One ratio a pair of neighbouring blocks (left then right, right then left): drift that is slow
    against a block cancels.

    Raises:
        ValueError: there is no pair.
    """
    median, low, high = median_interval(_log_ratios(timing.left, timing.right))
    return Ratio(exp(median), exp(low), exp(high))


def noise_floor(timing: Timing) -> float:
    """Return the relative difference that this machine shows where there is none.

    It is how far the speedup of the left side against itself reaches from 1, with 95 % confidence:
    the farther end of the interval that `speedup` gives for the left-against-left pairs. With fewer
    than six pairs it is the largest deviation of any, without pairs infinite.
    """
    ratios = _log_ratios(timing.noise_a, timing.noise_b)
    if not ratios:
        return inf
    _, low, high = median_interval(ratios)
    return expm1(max(abs(low), abs(high)))


def verdict(timing: Timing, floor: float | None = None) -> Verdict:
    """Return whether right is faster, slower, the same, or whether the samples cannot tell.

    Faster or slower takes all of: a significant difference (the 95 % interval of the speedup leaves
    out 1, and a two-sided Mann-Whitney U test of the samples gives p < 1 %); an effect that matters
    (the median speedup is beyond the band of the noise floor, or of 2 % where that is less); and no
    drift (the first and the second half of the pairs are each beyond the band on that side). The
    same takes an interval that lies within the band, both halves too, and a noise floor of at most
    10 %. Everything else is unclear, as are fewer than six pairs or three left-against-left ones, and
    whatever was measured while other processes used more than a fifth of the CPU.

    A `floor` stands in the place of the noise floor of the left-against-left pairs, of which there must be as many.

    Source: benchstat calls a difference by Mann-Whitney alone; the effect and the halves are ours.
    """
    ratios = _log_ratios(timing.left, timing.right)
    floor = noise_floor(timing) if floor is None else floor
    if _says_nothing(timing):
        return "unclear"
    band = log1p(max(floor, SMALLEST_EFFECT))
    halves = [_median(sorted(half)) for half in _halves(ratios)]
    _, low, high = median_interval(ratios)
    sure = mann_whitney(timing.left.ns_per_call, timing.right.ns_per_call) < ALPHA
    if sure and low > 0 and min(_median(sorted(ratios)), *halves) > band:
        return "faster"
    if sure and high < 0 and max(_median(sorted(ratios)), *halves) < -band:
        return "slower"
    inside = -band <= min(low, *halves) and max(high, *halves) <= band
    return "same" if inside and floor <= NOISIEST_SAME else "unclear"


def _says_nothing(timing: Timing) -> bool:
    """Return whether there are too few samples, or the machine was too busy, for any verdict."""
    return (
        len(_log_ratios(timing.left, timing.right)) < FEWEST_PAIRS
        or len(_log_ratios(timing.noise_a, timing.noise_b)) < FEWEST_NOISE_PAIRS
        or timing.others_cpu > BUSIEST_MACHINE
    )


def median_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the median and the narrowest symmetric order-statistic interval of at least 95 %.

    With fewer than six values no such interval exists: the smallest and largest stand for it.

    Raises:
        ValueError: there is no value.
    """
    if not values:
        raise ValueError("no samples")
    ordered = sorted(values)
    rank = _rank(len(ordered))
    return _median(ordered), ordered[rank], ordered[-1 - rank]


def mann_whitney(left: Sequence[float], right: Sequence[float]) -> float:
    """Return the two-sided p-value that both come from one distribution (normal approximation).

    Corrected for ties and continuity; 1 where nothing can be said.
    Source: Mann and Whitney (1947); the approximation as in scipy.stats.mannwhitneyu.
    """
    total = len(left) + len(right)
    if not left or not right:
        return 1.0
    ranks, ties = _ranks([*left, *right])
    statistic = sum(ranks[: len(left)]) - len(left) * (len(left) + 1) / 2
    mean = len(left) * len(right) / 2
    variance = mean / 6 * (total + 1 - ties / (total * (total - 1)))
    if variance <= 0:
        return 1.0
    distance = max(abs(statistic - mean) - 0.5, 0.0) / sqrt(variance)
    return erfc(distance / sqrt(2))


def _ranks(values: Sequence[float]) -> tuple[list[float], int]:
    """Return each value's rank from 1, ties sharing their mean; and the ties' sum of t^3 - t."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks, ties, start = [0.0] * len(values), 0, 0
    while start < len(order):
        end = start
        while end < len(order) and values[order[end]] == values[order[start]]:
            end += 1
        for index in order[start:end]:
            ranks[index] = (start + 1 + end) / 2
        ties += (end - start) ** 3 - (end - start)
        start = end
    return ranks, ties


def _rank(count: int) -> int:
    """Return how many values the interval of the median may leave out at each end."""
    rank, tail = 0, 0.0
    while True:
        tail += comb(count, rank) / 2**count
        if 1 - 2 * tail < CONFIDENCE:
            return max(rank - 1, 0)
        rank += 1


def _median(ordered: Sequence[float]) -> float:
    middle = len(ordered) // 2
    return (ordered[middle] + ordered[-1 - middle]) / 2


def _halves(values: Sequence[float]) -> tuple[Sequence[float], Sequence[float]]:
    return values[: len(values) // 2], values[len(values) // 2 :]


def _log_ratios(left: Samples, right: Samples) -> list[float]:
    """Return the logarithm of left over right, pair by pair; a time of 0 tells nothing."""
    pairs = zip(left.ns_per_call, right.ns_per_call, strict=False)
    return [log(a / b) for a, b in pairs if a > 0 and b > 0]
