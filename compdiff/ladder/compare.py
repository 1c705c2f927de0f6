"""From one rung to the next. In: the runs of the rungs. Out: changes: never a difference that noise may make.

Between two compiled rungs, which ran in processes of their own, the verdict is that of `compdiff.timing` with the noise
between processes as its floor, and it must be the same for the times relative to eager mode in each process.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from statistics import median

from compdiff import timing as statistics
from compdiff.ladder.facts import code_of
from compdiff.ladder.noise import between_processes
from compdiff.ladder.records import Change, PartChange, Speed
from compdiff.ladder.rungs import AUTOTUNE, EAGER
from compdiff.ladder.splits import ALL_PARTS, make_split, part_samples
from compdiff.model import Capture, Run, Samples, StepSplit, Timing
from compdiff.timing import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """What two processes may differ in, relative: in the time of a step, and in that of a profiled one."""

    step: float
    profiled: float


def noise_of(runs: Sequence[Run]) -> Noise:
    """Return the noise between the processes of these runs, by eager mode in each."""
    timings = [run.timing for run in runs if run.timing is not None]
    splits = [run.left.splits for run in runs if run.left.splits]
    return Noise(
        step=between_processes([_median(timing.left) for timing in timings]),
        profiled=between_processes([median(it.total_ns for it in found) for found in splits]),
    )


def eager_speed(run: Run) -> Speed | None:
    """Return the speed of a run's compiled side against eager mode, None where it was not timed."""
    if run.timing is None:
        return None
    return _speed(run.timing, statistics.verdict(run.timing), statistics.noise_floor(run.timing))


def from_eager(name: str, run: Run) -> Change:
    """Return the change from eager mode to a rung: both sides of one run."""
    timing = run.timing
    return Change(
        before=EAGER,
        after=name,
        speed=eager_speed(run),
        same_process=True,
        same_code=None,
        parts=() if timing is None else _parts(run.left, run.right, timing, None),
    )


def between(names: tuple[str, str], runs: tuple[Run, Run], noise: Noise) -> Change:
    """Return the change from one compiled rung to another."""
    before, after = runs
    timing = _across(before.timing, after.timing)
    return Change(
        before=names[0],
        after=names[1],
        speed=None if timing is None else _speed_across(runs, timing, noise.step),
        same_process=False,
        same_code=_same_code(before, after),
        parts=() if timing is None else _parts(before.right, after.right, timing, noise.profiled),
    )


def _same_code(before: Run, after: Run) -> bool | None:
    """Return whether both run the same generated code; None where one has none, and where a plan cannot know it."""
    codes = code_of(before.right), code_of(after.right)
    guessed = after.right.basis == "planned" and after.options.mode == AUTOTUNE
    return None if guessed or None in codes else codes[0] == codes[1]


def _across(before: Timing | None, after: Timing | None) -> Timing | None:
    """Return the compiled sides of two timings as the two sides of one; eager mode in both stands for its noise."""
    if before is None or after is None:
        return None
    return Timing(
        left=before.right,
        right=after.right,
        noise_a=before.left,
        noise_b=after.left,
        others_cpu=max(before.others_cpu, after.others_cpu),
    )


def _speed_across(runs: tuple[Run, Run], timing: Timing, floor: float) -> Speed:
    floor = max(floor, *(_own_floor(run) for run in runs))
    verdict = statistics.verdict(timing, floor)
    relative = statistics.verdict(_relative_to_eager(runs, timing), floor)
    return _speed(timing, verdict if verdict == relative else "unclear", floor)


def _own_floor(run: Run) -> float:
    return 0.0 if run.timing is None else statistics.noise_floor(run.timing)


def _relative_to_eager(runs: tuple[Run, Run], timing: Timing) -> Timing:
    """Return the timing with each side in units of eager mode in its own process, scaled to that of the first."""
    eager = [_median(run.timing.left) for run in runs if run.timing is not None]
    scale = eager[0] / eager[1]
    scaled = tuple(max(1, round(ns * scale)) for ns in timing.right.ns_per_call)
    return Timing(
        left=timing.left,
        right=Samples(ns_per_call=scaled, calls=timing.right.calls),
        noise_a=timing.noise_a,
        noise_b=timing.noise_b,
        others_cpu=timing.others_cpu,
    )


def _speed(timing: Timing, verdict: Verdict, floor: float) -> Speed:
    ratio = statistics.speedup(timing)
    return Speed(
        verdict=verdict,
        median=ratio.median,
        low=ratio.low,
        high=ratio.high,
        noise=floor if isfinite(floor) else None,
    )


def _parts(
    before: Capture, after: Capture, timing: Timing, floor: float | None
) -> tuple[PartChange, ...]:
    """Return how each part of the profiled step changed; none where a side was not split."""
    splits = make_split(before.splits), make_split(after.splits)
    if splits[0] is None or splits[1] is None:
        return ()
    shown = [{part.name: part.ns for part in split.parts} for split in splits if split]
    return tuple(
        PartChange(
            name=name,
            before_ns=shown[0].get(name, 0),
            after_ns=shown[1].get(name, 0),
            verdict=statistics.verdict(
                _profiled(before.splits, after.splits, name, timing),
                statistics.noise_floor(timing) if floor is None else floor,
            ),
        )
        for name in ALL_PARTS
        if name in shown[0] or name in shown[1]
    )


def _profiled(
    before: Sequence[StepSplit], after: Sequence[StepSplit], name: str, timing: Timing
) -> Timing:
    """Return a part's times in two captures as a timing; a time of 0 counts as 1 ns, since ratios are what is tested."""
    left, right = (
        Samples(ns_per_call=tuple(max(1, ns) for ns in part_samples(splits, name)), calls=1)
        for splits in (before, after)
    )
    return Timing(
        left=left,
        right=right,
        noise_a=timing.noise_a,
        noise_b=timing.noise_b,
        others_cpu=timing.others_cpu,
    )


def _median(samples: Samples) -> float:
    return float(median(samples.ns_per_call))
