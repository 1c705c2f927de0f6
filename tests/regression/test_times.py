"""Verdicts on times: false alarms are bounded, planted slowdowns found, what cannot be compared is named."""

import random
from math import log

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compdiff.model import Environment, Run
from compdiff.regression.config import Limits
from compdiff.regression.times import TimeChange, judge, shift
from tests.builders import run, samples, timing
from tests.regression.timed import noisy

replace = msgspec.structs.replace
LIMIT = Limits().slowdown or 0.0
ROUNDS = 400


def confirmed(rng: random.Random, slower: float, process: float) -> TimeChange:
    """Return the verdict as `compdiff check` comes to it: what seems slower is run twice more."""
    before, after = noisy(rng, process=process), [noisy(rng, slower, process=process)]
    verdict = judge([before], after, LIMIT)
    if verdict.verdict == "slower":
        after += [noisy(rng, slower, process=process) for _ in range(2)]
        verdict = judge([before], after, LIMIT)
    return verdict


def rate(slower: float, process: float) -> float:
    """Return the share of comparisons that are called slower."""
    rng = random.Random(20)  # noqa: S311 - the same numbers each time
    found = [confirmed(rng, slower, process).verdict for _ in range(ROUNDS)]
    return found.count("slower") / ROUNDS


@pytest.mark.parametrize("process", [0.0, 0.004, 0.008])
def test_false_alarms_are_at_most_one_in_a_hundred(process: float) -> None:
    """Two runs of the same code are hardly ever called a slowdown, though clock, drift, spikes and process differ."""
    assert rate(1.0, process) <= 0.01


@pytest.mark.parametrize(
    ("slower", "process", "power"),
    [(1.05, 0.004, 0.85), (1.05, 0.008, 0.65), (1.10, 0.008, 0.98)],
)
def test_planted_slowdowns_are_found(slower: float, process: float, power: float) -> None:
    """A slowdown of 5 % or 10 % is found at the power that docs/ci.md states."""
    assert rate(slower, process) >= power


def test_several_baselines_tell_how_far_processes_differ() -> None:
    """With several runs on both sides the spread between them counts: a noisy machine raises fewer false alarms."""
    rng = random.Random(7)  # noqa: S311
    verdicts = [
        judge(
            [noisy(rng, process=0.012) for _ in range(5)],
            [noisy(rng, process=0.012) for _ in range(3)],
            LIMIT,
        ).verdict
        for _ in range(200)
    ]
    assert verdicts.count("slower") <= 2


def test_the_interval_holds_the_truth() -> None:
    """The true ratio lies in the interval at least nine times of ten where processes do not differ."""
    rng = random.Random(3)  # noqa: S311
    found = [
        judge([noisy(rng, process=0.0)], [noisy(rng, 1.05, process=0.0)], LIMIT) for _ in range(200)
    ]
    inside = [one for one in found if one.ratio and one.ratio.low <= 1.05 <= one.ratio.high]
    assert len(inside) >= 180


def test_a_faster_function_is_no_regression() -> None:
    """What takes a tenth less is faster, and said to be."""
    assert (
        judge(
            [run(timing=timing(1000_000, 800_000))], [run(timing=timing(1000_000, 720_000))], LIMIT
        ).verdict
        == "faster"
    )


def test_the_same_samples_are_the_same() -> None:
    """A run against itself has a ratio of exactly 1."""
    one = run(timing=timing(1_000_000, 800_000))
    found = judge([one], [one], LIMIT)
    assert (found.verdict, found.ratio and found.ratio.median) == ("same", 1.0)


def test_a_slower_machine_is_no_regression() -> None:
    """Where eager mode takes as much longer as the compiled side, the machine is slower today."""
    before, after = run(timing=timing(1_000_000, 800_000)), run(timing=timing(1_300_000, 1_040_000))
    assert judge([before], [after], LIMIT).verdict == "same"


def test_a_faster_eager_mode_of_another_torch_is_no_regression() -> None:
    """Where torch differs and only eager mode became faster, the compiled side did not become slower."""
    before = run(timing=timing(1_000_000, 800_000))
    after = run(
        timing=timing(800_000, 800_000), environment=replace(before.environment, torch="2.15.0")
    )
    assert judge([before], [after], LIMIT).verdict == "unclear"


def test_one_slow_process_is_not_enough() -> None:
    """Runs that confirm must agree."""
    before, slow, usual = (run(timing=timing(1_000_000, ns)) for ns in (800_000, 880_000, 800_000))
    assert judge([before], [slow], LIMIT).verdict == "slower"
    assert judge([before], [slow, usual, usual], LIMIT).verdict != "slower"


def few(count: int) -> Run:
    """Return a run with so many samples."""
    values = samples(*([1_000] * count))
    whole = replace(
        timing(1_000, 2_000),
        left=values,
        right=samples(*([5_000] * count)),
        noise_a=values,
        noise_b=values,
    )
    return run(timing=whole)


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        (few(1), few(1), "before: 1 sample a side"),
        (few(8), few(1), "now: 1 sample a side"),
        (
            few(8),
            replace(few(8), environment=Environment(cpu="another CPU", threads=2)),
            "another machine: cpu",
        ),
        (
            few(8),
            replace(few(8), environment=replace(few(8).environment, threads=8)),
            "threads 2 -> 8",
        ),
        (
            few(8),
            replace(few(8), timing=replace(timing(1_000, 5_000), others_cpu=0.5)),
            "other processes used 50 %",
        ),
        (few(8), run(), "no times were measured"),
    ],
)
def test_what_cannot_be_compared_is_named(before: Run, after: Run, why: str) -> None:
    """One sample, another machine, a busy one: each is named, and never called a regression."""
    found = judge([before], [after], LIMIT)
    assert (found.verdict, found.ratio) == ("not compared", None)
    assert why in found.why


def test_no_baseline() -> None:
    """Without a run to compare with there is no verdict."""
    assert judge([], [few(8)], LIMIT).verdict == "not compared"


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=20), st.floats(-3, 3))
def test_shift_moves_with_the_samples(values: list[float], by: float) -> None:
    """Samples that all lie `by` higher are shifted by that, within the interval."""
    middle, low, high = shift(values, [value + by for value in values])
    assert low <= middle <= high
    assert middle == pytest.approx(by, abs=1e-9)


@given(
    st.lists(st.floats(-5, 5), min_size=1, max_size=12),
    st.lists(st.floats(-5, 5), min_size=1, max_size=12),
)
def test_shift_mirrors(left: list[float], right: list[float]) -> None:
    """The sides swapped give the negative."""
    forth, back = shift(left, right), shift(right, left)
    assert forth[0] == pytest.approx(-back[0])
    assert (forth[1], forth[2]) == pytest.approx((-back[2], -back[1]))


def test_shift_of_nothing() -> None:
    """A side without samples is refused."""
    with pytest.raises(ValueError, match="no samples"):
        shift([], [log(2)])
