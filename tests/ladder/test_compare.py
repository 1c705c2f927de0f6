"""From rung to rung: verdicts, and never one that noise may make."""

import random
from collections import Counter

import msgspec
import pytest

from compdiff.ladder.compare import Noise, between, eager_speed, from_eager, noise_of
from compdiff.ladder.records import Change
from compdiff.model import CompileOptions, Run, Samples, Timing
from tests.ladder.examples import EAGER_NS, ON_GPU, rung_run, samples, splits, timing

QUIET = Noise(step=0.01, profiled=0.01)
NAMES = ("default", "reduce-overhead")
TRIALS = 200


def pair(**fields: object) -> tuple[Run, Run]:
    """Return the runs of two rungs, the later one with some fields otherwise."""
    return rung_run("default"), rung_run("reduce-overhead", 1, **fields)


def verdicts(change: Change) -> dict[str, str]:
    """Return the verdict of each part."""
    return {part.name: part.verdict for part in change.parts}


def test_a_faster_rung() -> None:
    """A time far below is faster, part by part; what did not change is the same."""
    change = between(NAMES, pair(), QUIET)
    assert change.speed is not None
    assert change.speed.verdict == "faster"
    assert change.speed.low < 300 / 130 < change.speed.high
    assert (change.same_process, change.same_code) == (False, True)
    assert verdicts(change) == {
        "device": "same",
        "launches": "faster",
        "lookup": "same",
        "wrapper": "faster",
        "op_calls": "faster",
        "wait": "slower",
        "other": "faster",
    }


def test_noise_between_processes_hides_it() -> None:
    """Where eager mode differs by as much from process to process, nothing is told apart."""
    change = between(NAMES, pair(), Noise(step=3.0, profiled=10.0))
    assert change.speed is not None
    assert (change.speed.verdict, change.speed.noise) == ("unclear", 3.0)
    assert verdicts(change)["launches"] == "unclear"


def test_a_slow_process_is_no_slow_rung() -> None:
    """A rung in a process where eager mode is as much slower is not called slower, whatever the floor says."""
    runs = pair(timing=timing(EAGER_NS * 3 // 2, 450_000, seed=7))
    change = between(NAMES, runs, QUIET)
    assert change.speed is not None
    assert change.speed.verdict == "unclear"


def test_a_busy_machine_tells_nothing() -> None:
    """Other processes in the way of either rung make all of it unclear."""
    change = between(NAMES, pair(timing=timing(EAGER_NS, 130_000, others_cpu=0.5)), QUIET)
    assert change.speed is not None
    assert {change.speed.verdict, *verdicts(change).values()} == {"unclear"}


def test_without_times_or_splits() -> None:
    """A change of untimed rungs has no speed; one of rungs that were not split has no parts."""
    assert between(NAMES, pair(timing=None), QUIET).speed is None
    bare = msgspec.structs.replace(rung_run("reduce-overhead").right, splits=())
    change = between(NAMES, pair(right=bare), QUIET)
    assert change.speed is not None
    assert change.parts == ()


def test_from_eager_is_one_process() -> None:
    """The first change is the two sides of one run, with their own noise floor."""
    run = rung_run("aot_eager")
    change = from_eager("aot_eager", run)
    assert (change.before, change.after, change.same_process) == ("eager", "aot_eager", True)
    assert change.speed == eager_speed(run)
    assert change.speed is not None
    assert change.speed.verdict == "slower"
    assert verdicts(change)["lookup"] == "slower"
    assert from_eager("aot_eager", rung_run("aot_eager", timing=None)).parts == ()


def test_other_code_is_told() -> None:
    """Another generated kernel is other code; what a plan of max-autotune takes is no knowledge."""
    before, after = pair()
    account = after.right.compiler
    assert account is not None
    (graph,) = account.graphs
    other = msgspec.structs.replace(
        account, graphs=(msgspec.structs.replace(graph, calls=graph.calls * 2),)
    )
    changed = msgspec.structs.replace(
        after, right=msgspec.structs.replace(after.right, compiler=other)
    )
    assert between(NAMES, (before, changed), QUIET).same_code is False
    planned = msgspec.structs.replace(
        after,
        right=msgspec.structs.replace(after.right, basis="planned"),
        options=CompileOptions(mode="max-autotune"),
    )
    assert between(NAMES, (before, planned), QUIET).same_code is None


def test_noise_is_that_of_eager_mode() -> None:
    """Both floors are from eager mode's medians in all processes; one process gives none."""
    runs = [rung_run(name, number) for number, name in enumerate(ON_GPU)]
    noise = noise_of(runs)
    assert 0 < noise.step < 0.1
    assert 0 < noise.profiled < 0.1
    assert noise_of(runs[:1]) == Noise(step=float("inf"), profiled=float("inf"))


@pytest.mark.parametrize("shared", [0.0, 0.8])
def test_equal_rungs_are_seldom_told_apart(shared: float) -> None:
    """Four processes with 5 % of their own, one part of it shared by both sides: equal rungs get no verdict.

    The band is made for 1 of 100.
    """
    draw = random.Random(3)  # noqa: S311 - synthetic noise
    found = Counter[str]()
    for _ in range(TRIALS):
        runs = [_null_run(draw, shared) for _ in range(4)]
        change = between(NAMES, (runs[1], runs[2]), noise_of(runs))
        assert change.speed is not None
        found[change.speed.verdict] += 1
    assert found["faster"] + found["slower"] <= 0.02 * TRIALS


def _null_run(draw: random.Random, shared: float) -> Run:
    """Return a run of a process that makes both sides slower or faster by chance."""
    common = draw.gauss(0, 0.05) * shared
    eager, compiled = (
        round(EAGER_NS * (1 + common + draw.gauss(0, 0.05) * (1 - shared))) for _ in range(2)
    )
    return rung_run("default", timing=timing(eager, compiled, seed=draw.randrange(10**6)))


def test_few_samples_tell_nothing() -> None:
    """Fewer than six blocks of a rung give no verdict."""
    few = Samples(ns_per_call=samples(130_000, 1).ns_per_call[:5], calls=1)
    known = timing(EAGER_NS, 130_000)
    short = Timing(left=known.left, right=few, noise_a=known.noise_a, noise_b=known.noise_b)
    change = between(NAMES, pair(timing=short), QUIET)
    assert change.speed is not None
    assert change.speed.verdict == "unclear"


def test_parts_that_vanish_are_told() -> None:
    """A part of one rung only is a change from or to nothing."""
    right = msgspec.structs.replace(
        rung_run("reduce-overhead").right, splits=splits({"device": 70, "other": 20})
    )
    parts = {part.name: part for part in between(NAMES, pair(right=right), QUIET).parts}
    assert (parts["launches"].verdict, parts["launches"].after_ns) == ("faster", 0)
