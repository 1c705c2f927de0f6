"""What two runs have otherwise. In: Lookup. Out: the sentence, the changes as rows, what both have, times side by side.

Only for a diff with a comparison: that of one run against itself says all this in other parts.
"""

from collections import Counter
from difflib import unified_diff

import msgspec

from compdiff.model import Change, Comparison, Samples
from compdiff.report.lookup import Lookup, Ref
from compdiff.report.naming import counted_text, short_place
from compdiff.report.quantities import UNKNOWN, count_text, duration_text, interval_text, list_text
from compdiff.timing import summary

_NOT_COMPARED = {
    True: "one run: its own report compares them",
    False: "different runs: not compared",
}
_CASE = "eager op call"
# How things changed that are in both runs, where "changed" says too little.
_CHANGED = {"kernel": "with other code", _CASE: "with other shapes or dtypes"}


class ChangeRow(msgspec.Struct, frozen=True):
    """One thing that is `lost`, `gained` or `changed`, with the eager op calls it concerns and what stands for it.

    `code` is the difference of the code of two kernels, as `diff -u` writes it.
    """

    change: str
    what: str
    name: str
    op_calls: str
    place: str
    detail: str
    items: tuple[Ref, ...] = ()
    code: str = ""


class ComparisonView(msgspec.Struct, frozen=True):
    """The changes beside those of op calls and kernels; `case` says how the eager op calls of both runs differ.

    `compiled` says whether both sides are: else there are no rewrites, breaks and recompiles to compare.
    """

    same: bool
    compiled: bool
    changes: tuple[ChangeRow, ...]
    case: str
    unchanged: str


def make_comparison(lookup: Lookup) -> ComparisonView | None:
    """Return what two runs have otherwise, or None where one run was analysed."""
    comparison = lookup.diff.comparison
    if comparison is None:
        return None
    return ComparisonView(
        same=not comparison.changes and not lookup.diff.rewrites,
        compiled="rewrite" in comparison.unchanged,
        changes=tuple(_row(lookup, change) for change in comparison.changes),
        case=_case_text(comparison),
        unchanged=unchanged_text(lookup, comparison),
    )


def _row(lookup: Lookup, change: Change) -> ChangeRow:
    return ChangeRow(
        change=change.change,
        what=change.what,
        name=change.name,
        op_calls=counted_text(change.op_calls),
        place=short_place(change.source, lookup.run.case.file) if change.source else "",
        detail=change.detail,
        items=lookup.refs(change.items),
        code=_code_difference(lookup, change.items),
    )


def _code_difference(lookup: Lookup, items: tuple[str, ...]) -> str:
    if not items:
        return ""
    before, after = (lookup.code_text(item).splitlines() for item in items)
    return "\n".join(unified_diff(before, after, "A", "B", lineterm=""))


def comparison_sentence(lookup: Lookup, comparison: Comparison) -> str:
    """Return what changed in one sentence: by rule for op calls and kernels, by kind for the rest."""
    rules = Counter(rewrite.rule for rewrite in lookup.diff.rewrites)
    kinds = Counter((change.what, change.change) for change in comparison.changes)
    clauses = [
        list_text([f"{count} {rule}" for rule, count in rules.items()]),
        *(f"{count_text(n, what)} {_phrase(what, change)}" for (what, change), n in kinds.items()),
    ]
    changed = "; ".join(clause for clause in clauses if clause)
    if not changed:
        return f"Nothing changed: {unchanged_text(lookup, comparison)} are the same."
    return f"Changed: {changed}."


def _phrase(what: str, change: str) -> str:
    return _CHANGED.get(what, change) if change == "changed" else change


def unchanged_text(lookup: Lookup, comparison: Comparison) -> str:
    """Return what both runs have: `19 op calls or kernels, 18 rewrites and 1 graph break`."""
    kept = sum(fate.fate == "kept" for fate in lookup.diff.fates.values())
    counts = {"op call or kernel": kept, **comparison.unchanged}
    plurals = {"op call or kernel": "op calls or kernels"}
    shared = [count_text(n, what, plurals.get(what, "")) for what, n in counts.items() if n]
    return list_text(shared) or "nothing"


def _case_text(comparison: Comparison) -> str:
    """Return how the eager op calls of both runs differ, or "" where they are the same."""
    counts = Counter(change.change for change in comparison.changes if change.what == _CASE)
    parts = [
        f"{counts['lost']} in A only" if counts["lost"] else "",
        f"{counts['gained']} in B only" if counts["gained"] else "",
        f"{counts['changed']} with other shapes or dtypes" if counts["changed"] else "",
    ]
    text = list_text([part for part in parts if part])
    return f"The case changed: of the eager op calls, {text}." if text else ""


def times(comparison: Comparison) -> tuple[str, str, str]:
    """Return the median of each side with its 95 % interval, and why there is no ratio."""
    left, right = _time(comparison.left_samples), _time(comparison.right_samples)
    return left, right, _NOT_COMPARED[comparison.same_run]


def _time(samples: Samples | None) -> str:
    if samples is None:
        return UNKNOWN
    interval = summary(samples)
    median = duration_text(interval.median_ns)
    unit = median.rpartition(" ")[2]
    low_high = interval_text(interval.low_ns, interval.high_ns).removesuffix(f" {unit}")
    return f"{median} ({low_high})"
