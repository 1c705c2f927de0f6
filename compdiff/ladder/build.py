"""The ladder of one case. In: a run, or why there is none, for each rung. Out: a Ladder."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite
from statistics import median

from compdiff.ladder.compare import Noise, between, eager_speed, from_eager, noise_of
from compdiff.ladder.facts import counts_of, cuda_graph_of, work_of
from compdiff.ladder.payback import payback_of
from compdiff.ladder.records import LADDER_SCHEMA, Change, Ladder, Rung, StepTime
from compdiff.ladder.rungs import AUTOTUNE, EAGER, EAGER_WHAT, RungKind
from compdiff.ladder.splits import make_split
from compdiff.model import CaseSpec, Run, Samples
from compdiff.timing import summary

# What a plan says about the rung itself, not about plans.
_NOTED = frozenset({"benchmark-dependent"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Climbed:
    """What came of one rung: its run, whole or with a failure, or the message of what left none."""

    kind: RungKind
    run: Run | None = None
    failure: str = ""

    @property
    def whole(self) -> Run | None:
        """The run, if nothing is missing in it."""
        return self.run if self.run is not None and self.run.failure is None else None


def make_ladder(spec: CaseSpec, climbed: Sequence[Climbed]) -> Ladder:
    """Return the ladder of a case, eager mode first, then the rungs in the order given."""
    whole = [(it.kind.name, it.whole) for it in climbed]
    runs = [run for _, run in whole if run is not None]
    begun = [it.run for it in climbed if it.run is not None]
    noise = noise_of(runs)
    first = next(iter([*runs, *begun]), None)
    return Ladder(
        schema=LADDER_SCHEMA,
        case=spec.name,
        summary=spec.summary,
        basis=first.left.basis if first else "measured",
        device=first.left.device if first else "",
        device_name=(first.left.device_name or first.environment.cpu) if first else "",
        environment=_environment(first),
        rungs=(_eager(first), *(_rung(it) for it in climbed)),
        changes=_changes(whole, noise),
        eager_ns=tuple(
            round(median(run.timing.left.ns_per_call)) for run in runs if run.timing is not None
        ),
        process_noise=noise.step if isfinite(noise.step) else None,
        others_cpu=max((run.timing.others_cpu for run in runs if run.timing), default=0.0),
    )


def _eager(run: Run | None) -> Rung:
    """Return eager mode as it was in the process of the first rung."""
    if run is None:
        return Rung(
            name=EAGER,
            what=EAGER_WHAT,
            failure="no rung was measured, and eager mode is measured beside them",
        )
    return Rung(
        name=EAGER,
        what=EAGER_WHAT,
        counts=counts_of(run.left, None),
        step=_step(run.timing.left) if run.timing else None,
        split=make_split(run.left.splits),
        work=work_of(run.left),
    )


def _rung(climbed: Climbed) -> Rung:
    kind, run = climbed.kind, climbed.run
    if run is None:
        return Rung(name=kind.name, what=kind.what, failure=_first_line(climbed.failure))
    if run.failure is not None:
        failure = f"{run.failure.stage}: {_first_line(run.failure.message)}"
        return Rung(name=kind.name, what=kind.what, folder=kind.name, failure=failure)
    cuda_graph = cuda_graph_of(run)
    return Rung(
        name=kind.name,
        what=kind.what,
        folder=kind.name,
        counts=counts_of(run.right, cuda_graph),
        step=_step(run.timing.right) if run.timing else None,
        split=make_split(run.right.splits),
        speed=eager_speed(run),
        payback=payback_of(run) if run.left.basis == "measured" else None,
        cuda_graph=cuda_graph,
        work=work_of(run.right),
        notes=_notes(kind, run),
    )


def _first_line(message: str) -> str:
    """Return what is said before the traceback."""
    return message.partition("\n")[0]


def _notes(kind: RungKind, run: Run) -> tuple[str, ...]:
    """Return what a plan cannot know of a rung."""
    if run.left.basis != "planned" or kind.mode != AUTOTUNE:
        return ()
    return (
        "which kernels max-autotune would choose cannot be known without the device",
        *(it.text for it in run.warnings if it.id in _NOTED),
    )


def _step(samples: Samples) -> StepTime:
    found = summary(samples)
    return StepTime(
        median_ns=found.median_ns,
        low_ns=found.low_ns,
        high_ns=found.high_ns,
        least_ns=min(samples.ns_per_call),
        most_ns=max(samples.ns_per_call),
        samples=len(samples.ns_per_call),
    )


def _changes(whole: Sequence[tuple[str, Run | None]], noise: Noise) -> tuple[Change, ...]:
    """Return the change to each rung that was measured from the one before it that was."""
    known = [(name, run) for name, run in whole if run is not None]
    if not known:
        return ()
    return (
        from_eager(*known[0]),
        *(
            between((before, after), (left, right), noise)
            for (before, left), (after, right) in pairwise(known)
        ),
    )


def _environment(run: Run | None) -> dict[str, str]:
    if run is None:
        return {}
    known = run.environment
    return {"torch": known.torch, "python": known.python, "compdiff": known.compdiff}
