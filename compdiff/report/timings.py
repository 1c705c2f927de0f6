"""The timing part. In: Run. Out: median and interval of both sides, the speed in words, the picture's bins.

All statistics come from `compdiff.timing`; here they only become texts.
"""

from math import isfinite

import msgspec

from compdiff import timing as statistics
from compdiff.model import Run, Samples, Timing
from compdiff.report.histogram import Histogram, draw
from compdiff.report.quantities import (
    count_text,
    duration_text,
    interval_text,
    percent_text,
    ratio_text,
)


class SideTiming(msgspec.Struct, frozen=True):
    """One side's time per call: the median and the 95 % interval of the median."""

    label: str
    median: str
    interval: str
    lowest: str
    highest: str
    blocks: str


class TimingView(msgspec.Struct, frozen=True):
    """Both sides' times, the speedup, and how they were measured. `speed` is `1.80x faster (1.70 to 1.90)`."""

    sides: tuple[SideTiming, ...]
    verdict: str
    speed: str
    short_speed: str
    speedup: str
    noise_floor: str
    others_cpu: str
    stopping_rule: str
    stopped_by: str
    warmup: str
    histogram: Histogram


def make_timing(run: Run) -> TimingView | None:
    """Return the timing part, or None for a run without samples."""
    timing = sampled(run)
    if timing is None:
        return None
    ratio = statistics.speedup(timing)
    labels = (run.left.label, run.right.label)
    return TimingView(
        sides=(_side(labels[0], timing.left), _side(labels[1], timing.right)),
        verdict=statistics.verdict(timing),
        speed=speed_text(run, timing),
        short_speed=short_speed(timing),
        speedup=f"{ratio_text(ratio.median)} ({_bounds(ratio.low, ratio.high)})",
        noise_floor=_floor_text(statistics.noise_floor(timing)),
        others_cpu=percent_text(timing.others_cpu),
        stopping_rule=timing.stopping_rule,
        stopped_by=timing.stopped_by,
        warmup=count_text(timing.warmup_calls, "warm-up call"),
        histogram=draw(timing, labels),
    )


def sampled(run: Run) -> Timing | None:
    """Return the timing of a run that has samples of both sides, else None."""
    timing = run.timing
    return timing if timing and timing.left.ns_per_call and timing.right.ns_per_call else None


def speed_text(run: Run, timing: Timing) -> str:
    """Return how fast the right side is, in words, with the interval of the ratio: never more than is known."""
    ratio = statistics.speedup(timing)
    verdict = statistics.verdict(timing)
    if verdict == "slower":
        return f"{short_speed(timing)} ({_bounds(1 / ratio.high, 1 / ratio.low)})"
    if verdict == "faster":
        return f"{short_speed(timing)} ({_bounds(ratio.low, ratio.high)})"
    bounds = f"{run.left.label} / {run.right.label} {_bounds(ratio.low, ratio.high)}"
    return f"{short_speed(timing)} ({bounds})"


def short_speed(timing: Timing) -> str:
    """Return how fast the right side is without the interval: `1.80x faster`, `as fast within noise`."""
    ratio = statistics.speedup(timing)
    words = {
        "faster": f"{ratio_text(ratio.median)}x faster",
        "slower": f"{ratio_text(1 / ratio.median)}x slower",
        "same": "as fast within noise",
        "unclear": "speed unclear",
    }
    return words[statistics.verdict(timing)]


def _floor_text(floor: float) -> str:
    return percent_text(floor) if isfinite(floor) else "not measured"


def _bounds(low: float, high: float) -> str:
    return f"{ratio_text(low)} to {ratio_text(high)}"


def _side(label: str, samples: Samples) -> SideTiming:
    interval = statistics.summary(samples)
    return SideTiming(
        label=label,
        median=duration_text(interval.median_ns),
        interval=interval_text(interval.low_ns, interval.high_ns),
        lowest=duration_text(min(samples.ns_per_call)),
        highest=duration_text(max(samples.ns_per_call)),
        blocks=f"{count_text(len(samples.ns_per_call), 'block')} of {count_text(samples.calls, 'call')}",
    )
