"""Judges what the switches did to the gap. In: an Attempt for each. Out: an Explanation, with a sentence."""

from collections.abc import Sequence
from typing import Literal

from compdiff.model import Numerics, Record, Run
from compdiff.precision.switches import Switch

UNKNOWN_OPTION = "option-unknown"
"""The id of a run's warning: this torch lacks the option that a switch sets."""
ALREADY_SET = "option-already-set"
"""The id of a run's warning: what a switch sets is so already."""

Outcome = Literal["agrees", "differs", "unavailable", "already-set", "failed"]
_WITHOUT_RESULT: dict[str, Outcome] = {UNKNOWN_OPTION: "unavailable", ALREADY_SET: "already-set"}


class Attempt(Record, frozen=True, kw_only=True):
    """One way the case was compiled, and how its outputs compare with eager mode's; `note` says what a reader must know."""

    name: str
    kind: Literal["as asked", "layer", "switch"]
    outcome: Outcome
    means: str = ""
    source: str = ""
    numerics: Numerics | None = None
    note: str = ""


class Explanation(Record, frozen=True, kw_only=True):
    """Why the outputs of a case differ from eager mode's.

    `layer` is the first part of the compiler whose outputs differ, `inductor` where all before it agree; `closed_by` has the
    switches with each of which alone the outputs agree.
    """

    case: str
    device: str
    torch: str
    agrees: bool
    layer: str = ""
    closed_by: tuple[str, ...] = ()
    verdict: str
    attempts: tuple[Attempt, ...]

    @property
    def exit_code(self) -> int:
        """0 where the outputs agree or a switch explains why they do not, 1 where nothing does, 2 where it failed."""
        if self.attempts[0].outcome == "failed":
            return 2
        return 0 if self.agrees or self.closed_by else 1


def attempt_of(run: Run, switch: Switch | None) -> Attempt:
    """Return what one run says; `switch` is None for the case as the user compiles it."""
    told = next((it for it in run.warnings if it.id in _WITHOUT_RESULT), None)
    if told is not None:
        return _attempt(switch, _WITHOUT_RESULT[told.id], note=told.text)
    numerics = run.numerics
    if numerics is None:
        note = run.failure.message if run.failure else "ended without a result"
        return failed_attempt(switch, note)
    outcome: Outcome = "agrees" if numerics.within else "differs"
    return _attempt(switch, outcome, numerics, numerics.note)


def failed_attempt(switch: Switch | None, message: str) -> Attempt:
    """Return an attempt that gave nothing to compare."""
    return _attempt(switch, "failed", note=message)


def _attempt(
    switch: Switch | None, outcome: Outcome, numerics: Numerics | None = None, note: str = ""
) -> Attempt:
    if switch is None:
        return Attempt(
            name="as asked", kind="as asked", outcome=outcome, numerics=numerics, note=note
        )
    return Attempt(
        name=switch.name,
        kind=switch.kind,
        means=switch.means,
        source=switch.source,
        outcome=outcome,
        numerics=numerics,
        note=note,
    )


def explain(attempts: Sequence[Attempt], *, case: str, device: str, torch: str) -> Explanation:
    """Return the explanation that the attempts give; the first is the case as asked."""
    first, others = attempts[0], attempts[1:]
    layers = [it for it in others if it.kind == "layer"]
    wrong = next((it.name for it in layers if it.outcome == "differs"), "")
    known = wrong or all(it.outcome == "agrees" for it in layers)
    layer = (wrong or "inductor") if layers and known else ""
    closed = tuple(it for it in others if it.kind == "switch" and it.outcome == "agrees")
    return Explanation(
        case=case,
        device=device,
        torch=torch,
        agrees=first.outcome == "agrees",
        layer=layer,
        closed_by=tuple(it.name for it in closed),
        verdict=_verdict(first, layer, closed),
        attempts=tuple(attempts),
    )


def _verdict(first: Attempt, layer: str, closed: Sequence[Attempt]) -> str:
    if first.outcome == "failed":
        return "The case could not be compared."
    if first.outcome == "agrees":
        return "The outputs agree with eager mode's within the tolerance."
    return " ".join(part for part in (_switches(closed), _where(layer), _nearer(first)) if part)


def _switches(closed: Sequence[Attempt]) -> str:
    if not closed:
        return (
            "The outputs differ beyond the tolerance, and no switch that was tried closes the gap."
        )
    best, *more = closed
    also = f" So they do with {', '.join(it.name for it in more)}." if more else ""
    return f"With {best.name} the outputs agree, which points to this: {best.means}.{also}"


def _where(layer: str) -> str:
    if not layer:
        return ""
    if layer == "inductor":
        return "The difference is made by Inductor's graph passes or kernels: all layers before it agree."
    return f"The first layer whose outputs differ is {layer}."


def _nearer(first: Attempt) -> str:
    """Return which side is nearer to the result in float64, where that is known."""
    numerics = first.numerics
    if numerics is None or numerics.left is None or numerics.right is None:
        return ""
    eager, compiled = numerics.left.max_abs, numerics.right.max_abs
    figures = f"largest error {compiled:.3g} compiled, {eager:.3g} eager"
    if compiled == eager:
        return f"Both are equally far from float64 ({figures})."
    nearer = "compiled" if compiled < eager else "eager"
    return f"The {nearer} outputs are nearer to float64 ({figures})."
