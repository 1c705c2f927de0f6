"""Whether a compiled function became slower. In: runs before and after, a limit. Out: a verdict, or why there is none.

The samples of two runs were not taken in turns, so their times alone are not comparable: the machine may run at another
clock today. Each run timed its own eager side in turns with the compiled one, so compiled over eager is compared, pair
by pair; the eager side is the control. Where software or eager op calls differ, the control may have changed too, and the
compiled side's own time must have changed as well. A difference is called only if it is significant, larger than the limit
and than the noise floor of both runs, the same in both halves of the samples, and found in every run after.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, log, log1p, sqrt
from statistics import median, stdev
from typing import Literal

from compdiff.align.pivot import pair_eager
from compdiff.model import Environment, Run, Samples, Timing
from compdiff.timing import (
    ALPHA,
    BUSIEST_MACHINE,
    FEWEST_NOISE_PAIRS,
    FEWEST_PAIRS,
    NOISIEST_SAME,
    Ratio,
    mann_whitney,
    noise_floor,
)

Judged = Literal["slower", "faster", "same", "unclear", "not compared"]
# What makes two machines, to times, two.
_MACHINE = ("cpu", "device", "threads", "platform")
# What may change how fast eager mode is.
_SOFTWARE = ("torch", "triton", "cuda", "driver", "python", "compiler")
# How much of the band each run must reach, and each half of its samples.
_OF_EACH = 0.8
_OF_HALVES = 0.5
# Of fewer runs nothing can be said about how far apart they lie.
_FEWEST_RUNS = 3
_Z = 1.959964  # of a normal distribution: encloses 95 %


@dataclass(frozen=True)
class TimeChange:
    """A verdict: `ratio` is the time after over the time before, above 1 slower; None where nothing was compared."""

    verdict: Judged
    why: str
    ratio: Ratio | None = None
    p_value: float = 1.0
    band: float = 0.0


def judge(
    before: Sequence[Run], after: Sequence[Run], limit: float, *, any_host: bool = False
) -> TimeChange:
    """Return whether the compiled side is slower than before by more than `limit` (0.05 is 5 %).

    Args:
        before: the baseline; several runs of it count together.
        after: the run in question, and those made to confirm it: each must agree.
        limit: differences below it are never called.
        any_host: hosts of other names count as one machine where all else that is known of them is the same.
    """
    reason = _why_not(before, after, any_host=any_host)
    if reason:
        return TimeChange("not compared", reason)
    comparison = _compared(before, after, log1p(limit))
    verdict = _verdict(comparison, agrees=_own_time_agrees(before, after))
    return TimeChange(
        verdict, _sentence(comparison, limit), comparison.ratio, comparison.p_value, comparison.band
    )


@dataclass(frozen=True)
class _Compared:
    """What the samples say, as logarithms: `middles` and `halves` hold one value a run after."""

    shift: float
    low: float
    high: float
    middles: tuple[float, ...]
    halves: tuple[float, ...]
    p_value: float
    floor: float
    band: float

    @property
    def ratio(self) -> Ratio:
        """The time after over the time before."""
        return Ratio(exp(self.shift), exp(self.low), exp(self.high))


def _compared(before: Sequence[Run], after: Sequence[Run], limit: float) -> _Compared:
    pooled = [value for run in before for value in _log_ratios(run)]
    sets = [_log_ratios(run) for run in after]
    shifts = sorted((shift(pooled, values) for values in sets), key=lambda one: one[0])
    # With several runs after, the one in the middle is told; p is that of the least sure.
    middle, low, high = shifts[len(shifts) // 2]
    center = median(pooled)
    timings = [run.timing for run in (*before, *after) if run.timing is not None]
    floor = max(noise_floor(timing) for timing in timings)
    return _Compared(
        shift=middle,
        low=low,
        high=high,
        middles=tuple(one[0] for one in shifts),
        halves=tuple(median(half) - center for values in sets for half in _halves(values)),
        p_value=max(mann_whitney(pooled, values) for values in sets),
        floor=floor,
        band=max(limit, log1p(floor), _between(before), _between(after)),
    )


def _between(runs: Sequence[Run]) -> float:
    """Return how far apart runs of one side lie that should be the same: two standard deviations; 0 of fewer than three."""
    middles = [median(_log_ratios(run)) for run in runs]
    return 2 * stdev(middles) if len(middles) >= _FEWEST_RUNS else 0.0


def _verdict(found: _Compared, *, agrees: bool) -> Judged:
    """Return the verdict: significant in each run, beyond the band in the middle one, most of it in all."""
    up = min(*found.middles, _OF_EACH / _OF_HALVES * min(found.halves)) > _OF_EACH * found.band
    down = max(*found.middles, _OF_EACH / _OF_HALVES * max(found.halves)) < -_OF_EACH * found.band
    if found.p_value < ALPHA and agrees and (up or down):
        if found.shift > found.band:
            return "slower"
        if found.shift < -found.band:
            return "faster"
    inside = -found.band <= found.low and found.high <= found.band
    return "same" if inside and found.floor <= NOISIEST_SAME else "unclear"


def _sentence(found: _Compared, limit: float) -> str:
    """Return the numbers that a verdict rests on."""
    ratio = found.ratio
    return (
        f"{ratio.median:.3f}x the time before ({ratio.low:.3f} to {ratio.high:.3f}), beside eager mode in the same run; "
        f"limit {limit * 100:.3g} %, noise floor {found.floor * 100:.2g} %"
    )


def _own_time_agrees(before: Sequence[Run], after: Sequence[Run]) -> bool:
    """Return whether the compiled side's own time went the same way as the ratio, where eager mode may have changed too."""
    if all(_same_control(old, new) for old in before for new in after):
        return True
    own, _, _ = shift(_joined(before, _logs), _joined(after, _logs))
    ratio, _, _ = shift(_joined(before, _log_ratios), _joined(after, _log_ratios))
    return own * ratio > 0 and abs(own) > abs(ratio) / 2


def _same_control(before: Run, after: Run) -> bool:
    """Return whether the same software makes the same eager op calls in both."""
    if _differing(before.environment, after.environment, _SOFTWARE):
        return False
    return pair_eager(before.left.op_calls, after.left.op_calls).are_equal


def _joined(runs: Sequence[Run], values_of: Callable[[Run], list[float]]) -> list[float]:
    return [value for run in runs for value in values_of(run)]


def _halves(values: Sequence[float]) -> tuple[Sequence[float], Sequence[float]]:
    return values[: len(values) // 2], values[len(values) // 2 :]


# ---------------------------------------------------------------- what cannot be compared


def _why_not(before: Sequence[Run], after: Sequence[Run], *, any_host: bool) -> str:
    """Return why the times say nothing, or ""."""
    if not before:
        return "there is no run to compare with"
    reasons = [f"before: {reason}" for run in before if (reason := _says_nothing(run))]
    reasons += [f"now: {reason}" for run in after if (reason := _says_nothing(run))]
    reasons += [
        f"measured on another machine: {other}"
        for run in before
        for other in [_other_machine(run.environment, after[0].environment, any_host=any_host)]
        if other
    ]
    return next(iter(reasons), "")


def _other_machine(before: Environment, after: Environment, *, any_host: bool) -> str:
    """Return how two machines differ, or ""; runs of older versions of compdiff name no host."""
    are_named = bool(before.host and after.host) and not any_host
    return _differing(before, after, (*_MACHINE, *(("host",) if are_named else ())))


def _says_nothing(run: Run) -> str:
    timing = run.timing
    if timing is None:
        return "planned, not measured" if run.target is not None else "no times were measured"
    pairs, noise = len(_log_ratios(run)), len(_pairs(timing.noise_a, timing.noise_b))
    if pairs < FEWEST_PAIRS or noise < FEWEST_NOISE_PAIRS:
        return f"{pairs} sample{'s' if pairs != 1 else ''} a side: at least {FEWEST_PAIRS} are needed for a verdict"
    if timing.others_cpu > BUSIEST_MACHINE:
        return f"other processes used {timing.others_cpu * 100:.0f} % of the machine's CPU time"
    return ""


def _differing(before: Environment, after: Environment, fields: Sequence[str]) -> str:
    """Return the fields that differ: `threads 2 -> 8`."""
    return ", ".join(
        f"{name} {getattr(before, name) or 'unknown'} -> {getattr(after, name) or 'unknown'}"
        for name in fields
        if getattr(before, name) != getattr(after, name)
    )


# ---------------------------------------------------------------- samples


def _log_ratios(run: Run) -> list[float]:
    """Return the logarithm of compiled over eager time, pair by pair."""
    timing: Timing | None = run.timing
    return [] if timing is None else [log(b / a) for a, b in _pairs(timing.left, timing.right)]


def _logs(run: Run) -> list[float]:
    return [] if run.timing is None else [log(ns) for ns in run.timing.right.ns_per_call if ns > 0]


def _pairs(left: Samples, right: Samples) -> list[tuple[int, int]]:
    pairs = zip(left.ns_per_call, right.ns_per_call, strict=False)
    return [(a, b) for a, b in pairs if a > 0 and b > 0]


def shift(before: Sequence[float], after: Sequence[float]) -> tuple[float, float, float]:
    """Return how far `after` lies above `before`, with the 95 % interval of it.

    The median of all differences, and the differences whose ranks the distribution of the Mann-Whitney statistic gives.
    Source: Hodges and Lehmann (1963); the ranks by the normal approximation.

    Raises:
        ValueError: a side is empty.
    """
    if not before or not after:
        raise ValueError("no samples")
    differences = sorted(b - a for a in before for b in after)
    count = len(differences)
    spread = sqrt(count * (len(before) + len(after) + 1) / 12)
    rank = min(max(int(count / 2 - _Z * spread), 0), (count - 1) // 2)
    return median(differences), differences[rank], differences[count - 1 - rank]
