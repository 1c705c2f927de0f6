"""Takes unprofiled timings. In: two steps and a plan. Out: a Timing: interleaved samples of both sides.

A round is six blocks: left, right, right, left, so that drift hits both sides alike, then a pair of
left and left, which gives the noise floor. A block is a number of calls with the device waited for
at both ends and the garbage collector off.
"""

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter_ns

from compdiff.model import Samples, SamplingPlan, Timing
from compdiff.timing import FEWEST_PAIRS, median_interval

Step = Callable[[], object]

BLOCK_NS = 2_000_000
_MOST_CALLS = 10_000
# Warm-up ends when the last calls are no faster than the ones before, or at a share of the budget.
_WARMUP_SHARE = 0.2
_WINDOW = 4
_SETTLED = 0.05
# Two pairs a round: so many rounds give the fewest pairs that get a verdict, even of a slow case.
FEWEST_ROUNDS = FEWEST_PAIRS // 2


@dataclass(frozen=True)
class WarmUp:
    """How a side was warmed up: the number of calls, and how long one took at the end."""

    calls: int
    ns_per_call: int


@dataclass(frozen=True)
class _Side:
    """A step with the number of its calls in a block."""

    step: Step
    calls: int
    synchronize: Callable[[], None]

    def block(self) -> int:
        return time_block(self.step, self.calls, self.synchronize)


@dataclass
class _Series:
    """Nanoseconds per call, a block each."""

    left: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)
    noise_a: list[int] = field(default_factory=list)
    noise_b: list[int] = field(default_factory=list)

    def add_round(self, left: _Side, right: _Side) -> None:
        self.left.append(left.block())
        self.right.append(right.block())
        self.right.append(right.block())
        self.left.append(left.block())
        self.noise_a.append(left.block())
        self.noise_b.append(left.block())


def sample(left: Step, right: Step, plan: SamplingPlan, synchronize: Callable[[], None]) -> Timing:
    """Return interleaved samples of both steps, taken until the plan's rule stops it.

    Args:
        left: one call of the left side.
        right: one call of the right side.
        plan: when to stop; `stopping_rule` of the result says it in words.
        synchronize: waits for the device.
    """
    patience_ns = round(plan.budget_ns * _WARMUP_SHARE)
    warm = [warm_up(step, synchronize, patience_ns) for step in (left, right)]
    sides = [
        _Side(step, calls_per_block(one.ns_per_call), synchronize)
        for step, one in zip((left, right), warm, strict=True)
    ]
    series, start, stopped_by = _Series(), perf_counter_ns(), ""
    while not stopped_by:
        series.add_round(*sides)
        stopped_by = reason_to_stop(series.left, series.right, plan, perf_counter_ns() - start)
    return Timing(
        left=Samples(ns_per_call=tuple(series.left), calls=sides[0].calls),
        right=Samples(ns_per_call=tuple(series.right), calls=sides[1].calls),
        noise_a=Samples(ns_per_call=tuple(series.noise_a), calls=sides[0].calls),
        noise_b=Samples(ns_per_call=tuple(series.noise_b), calls=sides[0].calls),
        warmup_calls=sum(one.calls for one in warm),
        stopping_rule=stopping_rule(plan),
        stopped_by=stopped_by,
    )


def warm_up(step: Step, synchronize: Callable[[], None], patience_ns: int) -> WarmUp:
    """Call `step` until its times have settled, or for `patience_ns`; at least once.

    Settled: the fastest of the last four calls is at most 5 % faster than the fastest of the four
    before. The fastest is what a busy machine disturbs least.
    """
    times: list[int] = []
    spent = 0
    while not settled(times) and (not times or spent < patience_ns):
        times.append(time_block(step, 1, synchronize))
        spent += times[-1]
    return WarmUp(len(times), min(times[-_WINDOW:]))


def settled(times: Sequence[int]) -> bool:
    """Return whether the last window of times is no longer faster than the one before it."""
    if len(times) < 2 * _WINDOW:
        return False
    before, now = min(times[-2 * _WINDOW : -_WINDOW]), min(times[-_WINDOW:])
    return now >= before * (1 - _SETTLED)


def calls_per_block(ns_per_call: int) -> int:
    """Return how many calls make a block of 2 ms or more: one at least, 10,000 at most."""
    return max(1, min(_MOST_CALLS, -(-BLOCK_NS // max(ns_per_call, 1))))


def time_block(step: Step, calls: int, synchronize: Callable[[], None]) -> int:
    """Return the wall time of one call in a block of `calls`, nanoseconds, at least 1."""
    with _garbage_kept():
        synchronize()
        start = perf_counter_ns()
        for _ in range(calls):
            step()
        synchronize()
        return max(1, (perf_counter_ns() - start) // calls)


def stopping_rule(plan: SamplingPlan) -> str:
    """Return in words when `reason_to_stop` has one."""
    return (
        f"stops when the 95 % interval of both medians is narrower than {plan.precision:.3g} of the "
        f"median (after {plan.min_blocks} blocks a side), after {plan.max_blocks} blocks a side, or "
        f"after {plan.budget_ns / 1e9:g} s; never before {2 * FEWEST_ROUNDS} blocks a side"
    )


def reason_to_stop(
    left: Sequence[int], right: Sequence[int], plan: SamplingPlan, spent_ns: int
) -> str:
    """Return why sampling ends now: `precision`, `max_blocks` or `budget`; "" while it goes on."""
    blocks = len(left)
    if blocks < 2 * FEWEST_ROUNDS:
        return ""
    if (
        blocks >= plan.min_blocks
        and max(relative_width(left), relative_width(right)) <= plan.precision
    ):
        return "precision"
    if blocks >= plan.max_blocks:
        return "max_blocks"
    return "budget" if spent_ns >= plan.budget_ns else ""


def relative_width(values: Sequence[int]) -> float:
    """Return the width of the median's interval as a share of the median."""
    median, low, high = median_interval(values)
    return (high - low) / median


@contextmanager
def _garbage_kept() -> Iterator[None]:
    """Keep the garbage collector off, and leave it as it was."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
