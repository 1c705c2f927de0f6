"""From a run to its diff. In: a Run, or two captures. Out: a Diff that obeys the conservation law."""

import msgspec

from compdiff.align.alignment import align
from compdiff.align.items import left_op, right_items
from compdiff.errors import CompdiffError
from compdiff.findings import find
from compdiff.model import Diff, Failure, Fate, Run
from compdiff.rewrites import explain


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
    )
    check(run, diff)
    return find(run, diff)


def _unfinished(fates: dict[str, Fate], failure: Failure) -> dict[str, Fate]:
    """Return the fates of a run that ended early: what has none is so because the right side is missing."""
    why = f"the run ended early ({failure.stage}), so the right side is missing or incomplete"
    return {
        op: msgspec.structs.replace(fate, why=why) if fate.fate == "unexplained" else fate
        for op, fate in fates.items()
    }


def check(run: Run, diff: Diff) -> None:
    """Check the conservation law: one fate per left op call, one origin per right item, no op call claimed twice.

    Raises:
        CompdiffError: naming the first items that break it.
    """
    calls = {left_op(call.id) for call in run.left.op_calls}
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
