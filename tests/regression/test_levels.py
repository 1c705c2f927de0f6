"""The levels of the times in an archive: steps and drift are found, noise is none."""

import random
from collections.abc import Sequence

from compdiff.archive import Commit, Entry, RunId
from compdiff.archive.entry import SideNumbers, Span
from compdiff.regression.levels import levels, ratio_of


def entries(ratios: Sequence[float], host: str = "here", clock: float = 0.1) -> list[Entry]:
    """Return entries whose compiled side takes so much of the eager side's time, on a machine of changing clock."""
    rng = random.Random(7)  # noqa: S311 - noise, no secrets
    found = []
    for number, ratio in enumerate(ratios):
        eager = 1_000_000 * (1 + rng.uniform(-clock, clock))
        found.append(entry(number, host, round(eager), round(eager * ratio)))
    return found


def entry(number: int, host: str, eager_ns: int, compiled_ns: int | None) -> Entry:
    """Return an entry with these medians."""
    sides = [
        SideNumbers(op_calls=1, launches=1, kernels=1, time=span(ns))
        for ns in (eager_ns, compiled_ns)
    ]
    return Entry(
        id=RunId(f"{number:032x}"),
        case="one",
        created=f"2026-01-01T00:{number // 60:02}:{number % 60:02}Z",
        added="",
        host=host,
        commit=Commit(id=f"{number:040x}"),
        left=sides[0],
        right=sides[1],
    )


def span(median_ns: int | None) -> Span | None:
    """Return a time whose interval says nothing."""
    if median_ns is None:
        return None
    return Span(median_ns=median_ns, low_ns=median_ns, high_ns=median_ns, samples=20)


def noisy(level: float, count: int, seed: int) -> list[float]:
    """Return ratios with 1 % of noise."""
    rng = random.Random(seed)  # noqa: S311 - noise, no secrets
    return [level * (1 + rng.gauss(0, 0.01)) for _ in range(count)]


def test_a_step_is_found_where_it_is() -> None:
    """A slowdown of 8 % begins with its run, whatever the clock of the machine does."""
    found = levels(entries([*noisy(0.8, 12, 1), *noisy(0.864, 8, 2)]))

    assert [one.runs for one in found] == [12, 8]
    assert found[1].first.id == f"{12:032x}"
    assert 0.06 < found[1].change < 0.10


def test_drift_is_seen() -> None:
    """Half a percent a run is below any limit; after thirty runs it is another level."""
    found = levels(entries([0.8 * 1.005**turn for turn in range(30)]))

    assert len(found) > 1
    assert found[-1].ratio / found[0].ratio > 1.08


def test_noise_is_no_level() -> None:
    """Equal runs have one level, with few exceptions."""
    several = sum(len(levels(entries(noisy(0.8, 30, seed)))) > 1 for seed in range(100))

    assert several <= 3


def test_hosts_are_told_apart() -> None:
    """Another machine is no change of level."""
    found = levels([*entries([0.8] * 5, "a"), *entries([0.5] * 5, "b")])

    assert [(one.host, one.runs, one.change) for one in found] == [("a", 5, 0.0), ("b", 5, 0.0)]


def test_runs_without_times_are_left_out() -> None:
    """A plan has no level, and a time of nothing none either."""
    assert ratio_of(entry(0, "a", 1000, None)) is None
    assert ratio_of(entry(0, "a", 0, 1000)) is None
    assert levels([entry(0, "a", 1000, None)]) == ()
    assert levels([]) == ()
