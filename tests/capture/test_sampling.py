"""Tests of compdiff.capture.sampling with steps that only note that they ran."""

import gc
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compdiff.capture.sampling import (
    BLOCK_NS,
    FEWEST_ROUNDS,
    calls_per_block,
    reason_to_stop,
    sample,
    settled,
    stopping_rule,
    time_block,
    warm_up,
)
from compdiff.model import SamplingPlan
from compdiff.timing import verdict

PLAN = SamplingPlan(budget_ns=10**12, precision=0.0, min_blocks=6, max_blocks=8)
MILLISECOND_S = 0.001


def nothing() -> None:
    """Stand for a device that has nothing to wait for."""


def wait(factor: float) -> None:
    """Use up `factor` milliseconds of processor time."""
    end = time.perf_counter() + factor * MILLISECOND_S
    while time.perf_counter() < end:
        pass


def test_blocks_run_in_the_order_left_right_right_left_then_left_left() -> None:
    """Every round has the ABBA order and one pair of the left side against itself."""
    trace: list[str] = []

    def step(side: str) -> None:
        trace.append(side)
        wait(3)

    sample(lambda: step("L"), lambda: step("R"), PLAN, nothing)

    assert "".join(trace).endswith("LRRLLL" * 4)


def test_each_pair_of_samples_is_of_one_round() -> None:
    """Left and right have as many blocks, and left against left half of them."""
    timing = sample(lambda: wait(3), lambda: wait(3), PLAN, nothing)

    assert len(timing.left.ns_per_call) == len(timing.right.ns_per_call) == PLAN.max_blocks
    assert len(timing.noise_a.ns_per_call) == len(timing.noise_b.ns_per_call) == 4
    assert timing.stopped_by == "max_blocks"
    assert timing.stopping_rule == stopping_rule(PLAN)


def test_a_block_waits_for_the_device_at_both_ends() -> None:
    """The device is idle when the clock starts, and done when it stops."""
    trace: list[str] = []

    time_block(lambda: trace.append("call"), 3, lambda: trace.append("wait"))

    assert trace == ["wait", "call", "call", "call", "wait"]


def test_a_fast_step_is_called_often_in_a_block() -> None:
    """A step of a microsecond gets blocks of some 2 ms, a slow one a single call."""
    timing = sample(nothing, lambda: wait(3), PLAN, nothing)

    assert timing.left.calls > 100
    assert timing.right.calls == 1


@given(st.integers(0, 10**12))
def test_blocks_last_two_milliseconds_or_have_the_most_calls(ns_per_call: int) -> None:
    """No block is shorter than 2 ms but for the limit on calls."""
    calls = calls_per_block(ns_per_call)

    assert 1 <= calls <= 10_000
    assert calls * ns_per_call >= BLOCK_NS or calls == 10_000


@pytest.mark.parametrize("enabled", [True, False])
def test_the_garbage_collector_is_off_in_a_block_and_as_before_after_it(*, enabled: bool) -> None:
    """Collection neither disturbs a block nor stays off, and one that was off stays off."""
    was_enabled = gc.isenabled()
    seen: list[bool] = []
    try:
        (gc.enable if enabled else gc.disable)()
        time_block(lambda: seen.append(gc.isenabled()), 1, nothing)
        after = gc.isenabled()
    finally:
        (gc.enable if was_enabled else gc.disable)()

    assert seen == [False]
    assert after is enabled


def test_the_garbage_collector_is_restored_when_a_step_fails() -> None:
    """An exception of the case goes through, and leaves collection on."""

    def fail() -> None:
        raise RuntimeError("of the case")

    with pytest.raises(RuntimeError, match="of the case"):
        time_block(fail, 1, nothing)

    assert gc.isenabled()


def test_warm_up_ends_when_times_settle() -> None:
    """A step that gets fast after five calls is called a few times more."""
    calls: list[int] = []

    def step() -> None:
        calls.append(0)
        wait(8 if len(calls) <= 5 else 2)

    warm = warm_up(step, nothing, patience_ns=10**12)

    assert 9 <= warm.calls < 40
    assert warm.calls == len(calls)
    assert warm.ns_per_call < 8e6


def test_warm_up_is_bounded() -> None:
    """A step slower than the patience is called once."""
    assert warm_up(lambda: wait(5), nothing, patience_ns=10**6).calls == 1


@given(st.lists(st.integers(1, 100), min_size=8, max_size=8))
def test_falling_times_have_not_settled(times: list[int]) -> None:
    """A last window that is faster by more than 5 % has not settled; one that is not has."""
    assert settled(times) == (min(times[4:]) >= 0.95 * min(times[:4]))


def test_a_case_slower_than_the_budget_gets_the_fewest_pairs() -> None:
    """Six blocks a side are taken however long they last: fewer allow no verdict."""
    plan = SamplingPlan(budget_ns=1, min_blocks=10)
    timing = sample(lambda: wait(4), lambda: wait(2), plan, nothing)

    assert len(timing.left.ns_per_call) == 2 * FEWEST_ROUNDS == 6
    assert timing.stopped_by == "budget"


def test_a_steady_step_stops_by_precision() -> None:
    """Intervals narrower than asked end the sampling after the least number of blocks."""
    plan = SamplingPlan(budget_ns=10**12, precision=5.0, min_blocks=7)
    timing = sample(lambda: wait(2), lambda: wait(2), plan, nothing)

    assert len(timing.left.ns_per_call) == 8
    assert timing.stopped_by == "precision"


@pytest.mark.parametrize(
    ("blocks", "value", "spent_ns", "expected"),
    [
        (4, 1000, 10**12, ""),
        (6, 1000, 0, ""),
        (6, 1000, 10**12, "budget"),
        (10, 1000, 0, "precision"),
        (10, 1000, 10**12, "precision"),
        (20, 100, 0, "max_blocks"),
        (18, 100, 0, ""),
    ],
)
def test_the_rule_that_stops(blocks: int, value: int, spent_ns: int, expected: str) -> None:
    """Precision counts after the least number of blocks; budget after the fewest pairs."""
    plan = SamplingPlan(budget_ns=10**9, precision=0.01, min_blocks=10, max_blocks=20)
    values = [value, 1000] * (blocks // 2)

    assert reason_to_stop(values, values, plan, spent_ns) == expected


def test_the_stopping_rule_names_all_limits() -> None:
    """The rule can be read in the report without knowing the plan."""
    rule = stopping_rule(SamplingPlan(budget_ns=1_500_000_000, precision=0.01))

    for part in ("0.01 of the median", "10 blocks", "200 blocks", "1.5 s", "6 blocks"):
        assert part in rule


def test_a_twofold_speedup_of_real_time_is_found() -> None:
    """A right side that waits half as long is faster."""
    plan = SamplingPlan(budget_ns=10**9, precision=0.02, min_blocks=10)

    assert verdict(sample(lambda: wait(4), lambda: wait(2), plan, nothing)) in {"faster", "unclear"}
