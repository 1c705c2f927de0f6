"""Segments of a series of times."""

import random
from math import exp

from hypothesis import given
from hypothesis import strategies as st

from compdiff.regression.history import drift, segments


def series(seed: int, levels: list[float]) -> list[float]:
    """Return times around levels, with noise of 1 %."""
    rng = random.Random(seed)  # noqa: S311 - the same numbers each time
    return [level * 1e6 * exp(rng.gauss(0, 0.01)) for level in levels]


def test_noise_makes_no_segment() -> None:
    """Of 300 steady series at most 3 are cut."""
    cut = sum(len(segments(series(seed, [1.0] * 30))) > 1 for seed in range(300))
    assert cut <= 3


def test_a_step_is_found_where_it_is() -> None:
    """A step of 5 % in the middle of 30 runs is found, within a run of its place, 95 times of 100."""
    found = [segments(series(seed, [1.0] * 15 + [1.05] * 15)) for seed in range(100)]
    assert sum(len(one) == 2 and abs(one[1].start - 15) <= 1 for one in found) >= 95


def test_slow_drift_is_seen() -> None:
    """A tenth of slowdown in 100 runs, a thousandth a run, amounts to more than 4 %."""
    levels = [1 + 0.1 * index / 100 for index in range(100)]
    assert all(drift(segments(series(seed, levels))) > 0.04 for seed in range(50))


def test_one_bad_run_is_no_step() -> None:
    """A single run that takes twice as long is drawn in."""
    times = series(1, [1.0] * 20)
    times[10] *= 2
    assert len(segments(times)) == 1


def test_short_series() -> None:
    """None, one and two values are at most one segment, and do not drift."""
    assert segments([]) == ()
    assert [len(segments(times)) for times in ([5.0], [5.0, 9.0])] == [1, 1]
    assert drift(segments([5.0, 9.0])) == 0


@given(st.lists(st.floats(1, 1e9), max_size=25))
def test_segments_cover_the_series(times: list[float]) -> None:
    """Each run is in exactly one segment."""
    found = segments(times)
    bounds = [0, *(one.stop for one in found)]
    assert [one.start for one in found] == bounds[:-1]
    assert bounds[-1] == len(times)
