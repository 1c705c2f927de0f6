"""Unprofiled timings. In: two steps. Out: a Timing: interleaved samples of both, and of left against left.

Blocks run in the order left, right, right, left, so that drift hits both sides alike. Each pair of blocks of one side and
the other gives one ratio; left-left pairs between them give the noise floor.
"""

import gc
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter_ns

from compdiff.model import Samples, SamplingPlan, Timing
from compdiff.timing import median_interval

_BLOCK_NS = 2_000_000
_MOST_CALLS = 10_000
_WARMUP_NS = 200_000_000
_SETTLED = 0.05
_FEWEST_ROUNDS = 4  # of a case so slow that the budget is spent: 8 samples of a side

Step = Callable[[], object]


@dataclass
class _Series:
    left: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)
    noise_a: list[int] = field(default_factory=list)
    noise_b: list[int] = field(default_factory=list)


def sample(left: Step, right: Step, plan: SamplingPlan, synchronize: Callable[[], None]) -> Timing:
    """Return interleaved samples of both steps, until the plan's rule stops it.

    Args:
        left: one call of the left side.
        right: one call of the right side.
        plan: when to stop.
        synchronize: waits for the device; called at both ends of each block.
    """
    warmups = [warm_up(step, synchronize) for step in (left, right)]
    calls_left = calls_per_block(warmups[0][1])
    calls_right = calls_per_block(warmups[1][1])
    series = _Series()
    start = perf_counter_ns()
    stopped_by = ""
    while not stopped_by:
        _round(series, left, right, (calls_left, calls_right), synchronize)
        stopped_by = _stop(series, plan, perf_counter_ns() - start)
    rule = (
        f"until both medians' 95 % intervals are narrower than {plan.precision:.1%}, "
        f"{plan.budget_ns / 1e9:g} s or {plan.max_blocks} blocks a side; at least {plan.min_blocks} blocks"
    )
    return Timing(
        left=Samples(ns_per_call=tuple(series.left), calls=calls_left),
        right=Samples(ns_per_call=tuple(series.right), calls=calls_right),
        noise_a=Samples(ns_per_call=tuple(series.noise_a), calls=calls_left),
        noise_b=Samples(ns_per_call=tuple(series.noise_b), calls=calls_left),
        warmup_calls=warmups[0][0] + warmups[1][0],
        stopping_rule=rule,
        stopped_by=stopped_by,
    )


def warm_up(step: Step, synchronize: Callable[[], None]) -> tuple[int, int]:
    """Call `step` until two calls in a row take about the same time, or 0.2 s are over; return (calls, ns of a call)."""
    calls, spent, last = 0, 0, 0
    while True:
        now = block(step, 1, synchronize)
        calls, spent = calls + 1, spent + now
        settled = last > 0 and abs(now - last) <= _SETTLED * last
        if settled or spent >= _WARMUP_NS:
            return calls, now
        last = now


def calls_per_block(ns_per_call: int) -> int:
    """Return how many calls make a block of about 2 ms, one at least."""
    return max(1, min(_MOST_CALLS, _BLOCK_NS // max(ns_per_call, 1)))


def block(step: Step, calls: int, synchronize: Callable[[], None]) -> int:
    """Return the wall time of one call in a block of `calls`, without garbage collection, nanoseconds."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        synchronize()
        start = perf_counter_ns()
        for _ in range(calls):
            step()
        synchronize()
        return max(1, (perf_counter_ns() - start) // calls)
    finally:
        if collecting:
            gc.enable()


def _round(
    series: _Series, left: Step, right: Step, calls: tuple[int, int], synchronize: Callable[[], None]
) -> None:
    """Add one ABBA round of both sides and one left-left pair."""
    series.left.append(block(left, calls[0], synchronize))
    series.right.append(block(right, calls[1], synchronize))
    series.right.append(block(right, calls[1], synchronize))
    series.left.append(block(left, calls[0], synchronize))
    series.noise_a.append(block(left, calls[0], synchronize))
    series.noise_b.append(block(left, calls[0], synchronize))


def _stop(series: _Series, plan: SamplingPlan, spent_ns: int) -> str:
    """Return why sampling ends now, or "" while it goes on."""
    count = len(series.left)
    if spent_ns >= plan.budget_ns and count >= 2 * _FEWEST_ROUNDS:
        return "budget"
    if count < plan.min_blocks:
        return ""
    if count >= plan.max_blocks:
        return "blocks"
    precise = all(_width(values) <= plan.precision for values in (series.left, series.right))
    return "precision" if precise else ""


def _width(values: list[int]) -> float:
    median, low, high = median_interval([float(value) for value in values])
    return (high - low) / median
