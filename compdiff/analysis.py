"""From a run, or two, to a diff. In: a Run, or a side of each of two. Out: a Diff that obeys the conservation law."""

from collections.abc import Sequence

import msgspec

from compdiff.align.alignment import align
from compdiff.align.combined import combined
from compdiff.align.items import item_id, left_op, right_items, units
from compdiff.align.pivot import Item, Pivoted, pair_eager, pivot
from compdiff.align.sides import compiled_items, eager_items
from compdiff.errors import CompdiffError
from compdiff.findings import find
from compdiff.missed import find_missed, why_not
from compdiff.model import (
    CaptureWarning,
    Comparison,
    Diff,
    Failure,
    Fate,
    Run,
    Samples,
    Side,
)
from compdiff.plan_accuracy import agreement
from compdiff.rewrites import explain
from compdiff.rewrites.changes import case_changes, compiler_changes, explained
from compdiff.rewrites.compared import code_changes, explain_pivoted, matches, source_of, work_names
from compdiff.rewrites.facts import Facts


def analyse(run: Run) -> Diff:
    """Return everything compdiff concludes about a run.

    Raises:
        CompdiffError: the conclusion breaks the conservation law, which is a bug in compdiff.
    """
    alignment = align(run.left, run.right)
    explanation = explain(alignment)
    fates = (
        explanation.fates if run.failure is None else _unfinished(explanation.fates, run.failure)
    )
    diff = Diff(
        left_label=run.left.label,
        right_label=run.right.label,
        matches=tuple(alignment.matches),
        fates=fates,
        origins=explanation.origins,
        rewrites=explanation.rewrites,
        missed=find_missed(run, Facts(alignment), explanation.rewrites),
    )
    check(run, diff)
    return find(run, diff)


def asked(run: Run, diff: Diff, rule: str) -> Diff:
    """Return a run's diff with the answer why the rule of this name did not apply; as it was for ""."""
    return msgspec.structs.replace(diff, why_not=why_not(run, diff, rule)) if rule else diff


def _unfinished(fates: dict[str, Fate], failure: Failure) -> dict[str, Fate]:
    """Return the fates of a run that ended early: what has none is so because the right side is missing."""
    why = f"the run ended early ({failure.stage}), so the right side is missing or incomplete"
    return {
        op: msgspec.structs.replace(fate, why=why) if fate.fate == "unexplained" else fate
        for op, fate in fates.items()
    }


def check(run: Run, diff: Diff) -> None:
    """Check the conservation law: one fate per left op call, one origin per right item, no op call claimed twice.

    In a comparison the left kernels that no op call launched count as op calls.

    Raises:
        CompdiffError: naming the first items that break it.
    """
    calls = (
        {left_op(call.id) for call in run.left.op_calls}
        if diff.comparison is None
        else {item_id(made, "left") for made in units(run.left)}
    )
    items = {item for item, _ in right_items(run.right)}
    claimed = [op for rewrite in diff.rewrites for op in rewrite.left]
    broken = {
        "op calls without a fate": calls ^ set(diff.fates),
        "right items without an origin": items ^ set(diff.origins),
        "op calls claimed twice": {op for op in claimed if claimed.count(op) > 1}
        if len(set(claimed)) < len(claimed)
        else set(),
        "claims that no fate names": {
            op
            for rewrite in diff.rewrites
            for op in rewrite.left
            if diff.fates[op].rewrite != rewrite.id
        },
    }
    for what, ids in broken.items():
        if ids:
            message = (
                f"{run.case.name}: conservation law broken: {what}: {', '.join(sorted(ids)[:5])}"
            )
            raise CompdiffError(
                message, "This is a bug in compdiff; please report it with the run file."
            )


def unexplained(diff: Diff) -> tuple[int, int]:
    """Return how many left op calls and how many right items nothing explains."""
    ops = sum(fate.fate == "unexplained" for fate in diff.fates.values())
    items = sum(not origin.op_calls and not origin.introduced for origin in diff.origins.values())
    return ops, items


# ---------------------------------------------------------------- two runs


def compare(a: Run, a_side: Side, b: Run, b_side: Side) -> tuple[Run, Diff]:
    """Return A's side, left, and B's side, right, as one run, with what changed from the one to the other.

    An eager side against a compiled one of the same eager op calls is analysed as in `analyse`. All else pivots on the
    eager op calls of both runs, and the diff has a comparison.

    Raises:
        CompdiffError: a side is empty, or the conclusion breaks the conservation law.
    """
    run = _with_agreement(combined(a, a_side, b, b_side))
    eager = pair_eager(a.left.op_calls, b.left.op_calls)
    if (a_side, b_side) == ("left", "right") and eager.are_equal:
        run = _timed(run, a, b)
        return run, analyse(run)
    own = (_own(a, a_side), _own(b, b_side))
    pivoted = pivot(
        eager,
        _items(a, own[0], eager.left, "left"),
        _items(b, own[1], eager.right, "right"),
    )
    explanation = explain_pivoted(pivoted, run.right)
    diff = Diff(
        left_label=run.left.label,
        right_label=run.right.label,
        matches=matches(pivoted),
        fates=explanation.fates,
        origins=explanation.origins,
        rewrites=explanation.rewrites,
        comparison=_comparison(pivoted, (a, own[0]), (b, own[1])),
    )
    check(run, diff)
    return run, diff


def _with_agreement(run: Run) -> Run:
    """Return the combined run with how right a plan was, where one side is planned and the other measured on a GPU."""
    found = agreement(run.left, run.right)
    if found is None:
        return run
    text = f"the plan foresaw {found.foreseen} of {found.measured} measured kernels"
    wrong = (CaptureWarning(id="plan-wrong", text=sentence) for sentence in found.wrong)
    warnings = (CaptureWarning(id="plan-agreement", text=text), *wrong)
    return msgspec.structs.replace(run, warnings=(*warnings, *run.warnings))


def _own(run: Run, side: Side) -> Diff | None:
    """Return a run's own diff where its compiled side is compared; an eager side needs none."""
    return analyse(run) if side == "right" else None


def _items(run: Run, own: Diff | None, pivots: Sequence[int], side: Side) -> tuple[Item, ...]:
    if own is None:
        return eager_items(run, pivots, side)
    return compiled_items(run, own, pivots, side)


def _comparison(
    pivoted: Pivoted, a: tuple[Run, Diff | None], b: tuple[Run, Diff | None]
) -> Comparison:
    """Return what both runs have otherwise, beside their items."""
    pairs = pivoted.eager
    changes, unchanged = case_changes(pairs)
    if a[1] is not None and b[1] is not None:
        said, alike = compiler_changes(
            pairs, explained(a[0], a[1], pairs.left), explained(b[0], b[1], pairs.right)
        )
        changes = (*said, *code_changes(pivoted), *changes)
        unchanged = {**alike, **unchanged}
    elif a[1] is None and b[1] is None:
        # What one eager side alone has is said of its op calls already.
        changes = tuple(change for change in changes if change.change == "changed")
    items = (*pivoted.left, *pivoted.right)
    sources = {item.id: source_of(pivoted, item.work) for item in items}
    return Comparison(
        changes=changes,
        unchanged=unchanged,
        work={item.id: tuple(work_names(pivoted, item.work)) for item in items},
        sources={item: source for item, source in sources.items() if source is not None},
        same_run=a[0] == b[0],
        left_samples=_samples(a[0], "right" if a[1] else "left"),
        right_samples=_samples(b[0], "right" if b[1] else "left"),
    )


def _samples(run: Run, side: Side) -> Samples | None:
    if run.timing is None:
        return None
    samples = run.timing.left if side == "left" else run.timing.right
    return samples if samples.ns_per_call else None


def _timed(run: Run, a: Run, b: Run) -> Run:
    """Return the combined run of an eager and a compiled side with times and numerics if both are of one run."""
    if a == b:
        return msgspec.structs.replace(run, timing=b.timing, numerics=b.numerics)
    warning = CaptureWarning(
        id="times-not-compared",
        text="the sides were timed in different runs: their times are not compared",
    )
    return msgspec.structs.replace(run, warnings=(*run.warnings, warning))
