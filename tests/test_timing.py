"""Tests of compdiff.timing, most of them on synthetic samples drawn from a seeded generator."""

import math
import random
from collections import Counter
from collections.abc import Callable, Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compdiff.model import Samples, Timing
from compdiff.timing import (
    ALPHA,
    Verdict,
    mann_whitney,
    median_interval,
    noise_floor,
    speedup,
    summary,
    verdict,
)

TRIALS = 1000
Draw = Callable[[random.Random, int], float]


def samples(values: Sequence[float]) -> Samples:
    """Return samples of one call a block."""
    return Samples(ns_per_call=tuple(round(value) for value in values), calls=1)


def timing(
    left: Sequence[float],
    right: Sequence[float],
    noise_a: Sequence[float] = (1000, 1001, 1002) * 3,
    noise_b: Sequence[float] = (1001, 1002, 1000) * 3,
) -> Timing:
    """Return a timing of the given blocks, with a quiet machine's noise unless given."""
    return Timing(
        left=samples(left),
        right=samples(right),
        noise_a=samples(noise_a),
        noise_b=samples(noise_b),
    )


def drawn(seed: int, draw: Draw, factor: float, pairs: int) -> Timing:
    """Return a timing whose right blocks are drawn as the left ones are, times `factor`."""
    generator = random.Random(seed)  # noqa: S311 - synthetic noise

    def series(count: int) -> list[float]:
        return [draw(generator, index) for index in range(count)]

    right = [value * factor for value in series(pairs)]
    return timing(series(pairs), right, series(pairs // 2), series(pairs // 2))


def gauss(share: float) -> Draw:
    """Return a drawer of normal noise of `share` around 1 ms."""
    return lambda generator, _: 1e6 * max(0.01, generator.gauss(1, share))


def heavy(generator: random.Random, _: int) -> float:
    """Draw 1 ms with a long tail, as a shared machine has it."""
    return 1e6 * generator.lognormvariate(0, 0.05) * (3 if generator.random() < 0.1 else 1)


def warming(generator: random.Random, index: int) -> float:
    """Draw 1 ms that gets slower by 1 % a block, both sides alike."""
    return 1e6 * (1 + index / 100) * generator.gauss(1, 0.01)


@pytest.mark.parametrize("pairs", [6, 10, 40])
@pytest.mark.parametrize(
    "draw", [gauss(0.002), gauss(0.02), gauss(0.2), heavy, warming], ids=lambda draw: draw.__name__
)
def test_alike_sides_are_called_different_in_at_most_one_trial_of_a_hundred(
    draw: Draw, pairs: int
) -> None:
    """A side against itself is faster or slower at most 10 times in 1000."""
    found = Counter(verdict(drawn(seed, draw, 1.0, pairs)) for seed in range(TRIALS))

    assert found["faster"] + found["slower"] <= TRIALS // 100


@pytest.mark.parametrize(("factor", "expected"), [(1 / 1.1, "faster"), (1.1, "slower")])
@pytest.mark.parametrize("pairs", [10, 40])
def test_a_tenth_at_two_percent_noise_is_found(
    factor: float, expected: Verdict, pairs: int
) -> None:
    """A planted difference of 10 % is found in at least 95 of 100 trials."""
    found = Counter(verdict(drawn(seed, gauss(0.02), factor, pairs)) for seed in range(TRIALS))

    assert found[expected] >= 0.95 * TRIALS


def test_quiet_sides_that_are_alike_are_the_same() -> None:
    """At 0.2 % noise, nearly all trials without a difference end with the verdict "same"."""
    found = Counter(verdict(drawn(seed, gauss(0.002), 1.0, 20)) for seed in range(TRIALS))

    assert found["same"] >= 0.95 * TRIALS


def test_a_small_effect_is_the_same_however_sure() -> None:
    """A difference of 1 % is below what is worth a verdict."""
    found = drawn(0, gauss(0.001), 1.01, 100)

    assert speedup(found).high < 1
    assert verdict(found) == "same"


def test_a_large_effect_below_the_noise_floor_is_unclear() -> None:
    """Where left against left differs by half, a speedup of 1.3 says nothing."""
    noisy = timing([1300, 1310] * 5, [1000, 1010] * 5, [1000, 1500] * 3, [1500, 1000] * 3)

    assert noise_floor(noisy) == pytest.approx(0.5)
    assert verdict(noisy) == "unclear"


def test_a_noisy_machine_never_says_same() -> None:
    """Equal sides with a noise floor of 20 % are unclear: the band would hide a real difference."""
    assert verdict(timing([1000] * 10, [1000] * 10, [1000] * 6, [1200] * 6)) == "unclear"


@pytest.mark.parametrize(("others", "expected"), [(0.2, "faster"), (0.21, "unclear")])
def test_a_busy_machine_gives_no_verdict(others: float, expected: str) -> None:
    """Above the limit of the module, what other processes used makes any difference unclear."""
    measured = timing([2000] * 10, [1000] * 10, [1000] * 6, [1001] * 6)
    assert verdict(msgspec.structs.replace(measured, others_cpu=others)) == expected


def test_drift_between_the_halves_is_unclear() -> None:
    """A right side that is faster at first and as fast at last has no verdict."""
    drifting = timing([1000] * 20, [800] * 11 + [1000] * 9)

    assert speedup(drifting).median > 1.2
    assert verdict(drifting) == "unclear"


def test_common_drift_cancels_in_the_speedup() -> None:
    """Both sides doubling their time leave the ratio, pair by pair, as it was."""
    slower = [1000 * (1 + index / 10) for index in range(10)]
    ratio = speedup(timing(slower, [value / 2 for value in slower]))

    assert ratio.low == pytest.approx(2, rel=0.01)
    assert ratio.high == pytest.approx(2, rel=0.01)


@pytest.mark.parametrize(
    ("pairs", "noise", "expected"),
    [(5, 9, "unclear"), (6, 9, "faster"), (6, 3, "faster"), (6, 2, "unclear"), (6, 0, "unclear")],
)
def test_too_few_pairs_are_unclear(pairs: int, noise: int, expected: str) -> None:
    """A twofold speedup needs six pairs, and three of left against left."""
    assert (
        verdict(timing([2000] * pairs, [1000] * pairs, [1000] * noise, [1001] * noise)) == expected
    )


def test_the_noise_floor_is_unknown_without_pairs() -> None:
    """Without left-against-left pairs nothing bounds the noise."""
    assert noise_floor(timing([1] * 6, [1] * 6, [], [])) == math.inf


def test_summary_is_in_whole_nanoseconds() -> None:
    """The median of an even number of samples is the middle of the two in the middle."""
    interval = summary(samples([10, 20, 30, 40]))

    assert (interval.median_ns, interval.low_ns, interval.high_ns) == (25, 10, 40)


def test_no_samples_are_an_error() -> None:
    """An empty series has no median."""
    with pytest.raises(ValueError, match="no samples"):
        summary(samples([]))


@pytest.mark.parametrize(
    ("count", "rank"), [(1, 0), (5, 0), (6, 0), (8, 0), (9, 1), (10, 1), (20, 5), (100, 39)]
)
def test_the_interval_leaves_out_as_many_as_the_binomial_allows(count: int, rank: int) -> None:
    """The ranks are those in tables of the sign test at 95 %."""
    _, low, high = median_interval(list(range(count)))

    assert (low, high) == (rank, count - 1 - rank)


def test_the_interval_covers_the_median_as_often_as_it_says() -> None:
    """Of 1000 intervals from 20 draws of a skewed distribution, at least 95 % hold its median."""
    generator = random.Random(7)  # noqa: S311 - synthetic noise
    held = 0
    for _ in range(TRIALS):
        _, low, high = median_interval([generator.expovariate(1) for _ in range(20)])
        held += low <= math.log(2) <= high

    assert held >= 0.94 * TRIALS


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ([1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12], 0.005075),
        ([1, 1, 2, 2], [2, 2, 3, 3], 0.086359),
        ([1, 2, 3], [1, 2, 3], 1.0),
        ([5, 5], [5, 5], 1.0),
        ([], [1], 1.0),
    ],
)
def test_mann_whitney_gives_known_values(
    left: list[float], right: list[float], expected: float
) -> None:
    """The p-values are those of the normal approximation with both corrections."""
    assert mann_whitney(left, right) == pytest.approx(expected, abs=1e-5)


def test_six_samples_a_side_can_be_significant() -> None:
    """The fewest pairs that get a verdict suffice for the test's level."""
    assert mann_whitney([1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12]) < ALPHA


TIMES = st.lists(st.integers(1, 10**9), min_size=1, max_size=30)


@st.composite
def timings(draw: st.DrawFn) -> Timing:
    """Draw a timing whose sides have equally many blocks of any times."""
    left, noise = draw(TIMES), draw(TIMES)
    right = draw(st.lists(st.integers(1, 10**9), min_size=len(left), max_size=len(left)))
    other = draw(st.lists(st.integers(1, 10**9), min_size=len(noise), max_size=len(noise)))
    return timing(left, right, noise, other)


def scaled(side: Samples, factor: int) -> Samples:
    """Return samples that took `factor` times as long."""
    return Samples(
        ns_per_call=tuple(value * factor for value in side.ns_per_call), calls=side.calls
    )


@given(timings(), st.integers(2, 1000))
def test_the_unit_does_not_matter(measured: Timing, factor: int) -> None:
    """Times in another unit give the same ratios and the same verdict."""
    other = Timing(
        left=scaled(measured.left, factor),
        right=scaled(measured.right, factor),
        noise_a=scaled(measured.noise_a, factor),
        noise_b=scaled(measured.noise_b, factor),
    )

    assert speedup(other).median == pytest.approx(speedup(measured).median)
    assert noise_floor(other) == pytest.approx(noise_floor(measured))
    assert verdict(other) == verdict(measured)


@given(timings())
def test_swapping_the_sides_mirrors_the_result(measured: Timing) -> None:
    """Right against left is faster where left against right is slower, by the inverse ratio."""
    mirrored = msgspec.structs.replace(measured, left=measured.right, right=measured.left)
    mirror = {"faster": "slower", "slower": "faster"}
    ratio, other = speedup(measured), speedup(mirrored)

    assert verdict(mirrored) == mirror.get(verdict(measured), verdict(measured))
    assert other.median == pytest.approx(1 / ratio.median)
    assert other.low == pytest.approx(1 / ratio.high)


@given(timings())
def test_the_median_lies_in_its_interval(measured: Timing) -> None:
    """Low, median and high come in this order, for times and for ratios."""
    interval, ratio = summary(measured.left), speedup(measured)

    assert interval.low_ns <= interval.median_ns <= interval.high_ns
    assert ratio.low <= ratio.median <= ratio.high


@given(timings())
def test_a_verdict_has_the_sign_of_the_speedup(measured: Timing) -> None:
    """Faster goes with an interval above 1, slower with one below."""
    ratio = speedup(measured)
    allowed = {"faster": ratio.low > 1, "slower": ratio.high < 1}

    assert allowed.get(verdict(measured), True)
