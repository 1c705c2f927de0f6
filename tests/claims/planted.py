"""False rows and false conclusions. In: a golden run. Out: conclusions by a table that is wrong in one place."""

from collections.abc import Callable
from unittest.mock import patch

import msgspec

import compdiff.analysis
from compdiff.align.traces import Alignment, OpTrace
from compdiff.analysis import analyse
from compdiff.model import Diff, Fate, Run
from compdiff.rewrites import RULES, explain
from compdiff.rewrites.condition import Condition
from compdiff.rewrites.engine import Explanation
from compdiff.rewrites.facts import Facts
from compdiff.rewrites.rule import Rule, Scope

_Explain = Callable[[Alignment], Explanation]


def of_any_call(_: Facts, trace: OpTrace) -> bool:
    """Return whether there is an op call at all."""
    return trace is not None


_ANY = Condition(holds=of_any_call, otherwise="never said")


def false_row(name: str, scope: Scope) -> Rule:
    """Return the row of a rule that claims whatever it comes to, in the place of those that look first."""
    true = next(rule for rule in RULES if rule.name == name)
    return Rule(
        name=name,
        fate=true.fate,
        scope=scope,
        why=true.why,
        source=true.source,
        case=true.case,
        passes=(r"",) if scope == "pass" else (),
        when=() if scope == "pass" else (_ANY,),
    )


def analysed_with(run: Run, row: Rule) -> Diff:
    """Return what compdiff concludes where this row stands before all others."""

    def planted(alignment: Alignment) -> Explanation:
        return explain(alignment, (row, *RULES))

    return analysed_by(run, planted)


def analysed_by(run: Run, planted: _Explain) -> Diff:
    """Return what compdiff concludes with another explanation."""
    with patch.object(compdiff.analysis, "explain", planted):
        return analyse(run)


def claimed(diff: Diff) -> dict[str, tuple[str, str]]:
    """Return each op call's fate and the rule that says so."""
    rules = {rewrite.id: rewrite.rule for rewrite in diff.rewrites}
    return {
        item: (fate.fate, rules.get(fate.rewrite or "", "")) for item, fate in diff.fates.items()
    }


def with_exchanged_fates(diff: Diff, one: str, other: str) -> Diff:
    """Return the diff with two op calls in each other's rewrites, and their fates accordingly."""
    names = {one: other, other: one}
    rewrites = tuple(
        msgspec.structs.replace(rewrite, left=tuple(names.get(item, item) for item in rewrite.left))
        for rewrite in diff.rewrites
    )
    fates: dict[str, Fate] = {item: diff.fates[names.get(item, item)] for item in diff.fates}
    return msgspec.structs.replace(diff, rewrites=rewrites, fates=fates)


def with_exchanged_origins(diff: Diff, one: str, other: str) -> Diff:
    """Return the diff with the origins of two right items exchanged."""
    names = {one: other, other: one}
    origins = {item: diff.origins[names.get(item, item)] for item in diff.origins}
    return msgspec.structs.replace(diff, origins=origins)
