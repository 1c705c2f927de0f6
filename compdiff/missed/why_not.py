"""Why a rule did not apply. In: a Run, its Diff, a rule's name. Out: where it applied or nearly did, or what lacks."""

from collections.abc import Iterator, Sequence
from typing import Any

from compdiff.align.alignment import align
from compdiff.align.traces import OpTrace
from compdiff.missed.engine import places
from compdiff.missed.place import Opportunity, Site
from compdiff.missed.table import OPPORTUNITIES
from compdiff.model import Diff, Missed, Run, WhyNot
from compdiff.rewrites.facts import Facts
from compdiff.rewrites.rule import Rule
from compdiff.rewrites.rules import RULES

_NO_ACCOUNT = "no compiler tells what it did: an imported trace has no graphs to look at"
_MOST_OPS = 4


def why_not(run: Run, diff: Diff, name: str) -> WhyNot:
    """Return where the rule of this name applied in a run, and each place where it nearly did.

    A place is told by the first of the rule's conditions that fails there. The dearest come first.
    """
    applied = tuple(rewrite.id for rewrite in diff.rewrites if rewrite.rule == name)
    facts = Facts(align(run.left, run.right))
    if not facts.graphs:
        return WhyNot(rule=name, applied=applied, nothing="" if applied else _NO_ACCOUNT)
    site = Site(run, facts, diff.rewrites)
    row = next((row for row in OPPORTUNITIES if row.rule == name), None)
    rules = [rule for rule in RULES if rule.name == name]
    found = list(places(row, site)) if row is not None else list(_near_calls(rules, site))
    missed = sorted(found, key=lambda one: (-one.bytes_moved, -one.launches))
    nothing = "" if applied or found else _nothing(row, rules, run)
    return WhyNot(rule=name, applied=applied, missed=tuple(missed), nothing=nothing)


def _nothing(row: Opportunity[Any] | None, rules: list[Rule], run: Run) -> str:
    """Return what the case lacks for a rule, or what compdiff does."""
    if row is not None:
        names = {call.name for call in run.left.op_calls}
        lacks_op = row.of and not names & set(row.of)
        return f"no {_names(row.of) if lacks_op else row.kind} in the case"
    kind = _kind(rules)
    if kind:
        return f"no {kind} in the case"
    if rules[0].scope == "pass":
        return f"it applied nowhere, and compdiff does not know what it asks of a place: see {rules[0].source}"
    return f"no op call of its kind in the case; its kind: {rules[0].why}"


def _names(names: Sequence[str]) -> str:
    more = len(names) - _MOST_OPS
    if more > 0:
        return f"{', '.join(names[:_MOST_OPS])} or {more} like these"
    return " or ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def _kind(rules: list[Rule]) -> str:
    """Return what op calls the rows of one rule speak of: those of some names, or of a kind; "" where they do not tell."""
    ops = sorted({op for rule in rules if rule.scope != "library" for op in rule.ops})
    if ops:
        return _names(ops)
    kinds = (rule.when[0].kind for rule in rules if rule.when)
    return next((kind for kind in kinds if kind), "")


def _near_calls(rules: list[Rule], site: Site) -> Iterator[Missed]:
    """Yield the op calls of the rule's kind that it did not claim, with the condition that fails first."""
    claimed = {op for it in site.rewrites if it.rule == rules[0].name for op in it.left}
    for trace in site.facts.alignment.traces:
        rule = next((rule for rule in rules if _is_of_its_kind(rule, site.facts, trace)), None)
        if rule is not None and trace.id not in claimed:
            yield _missed_call(rule, site, trace)


def _is_of_its_kind(rule: Rule, facts: Facts, trace: OpTrace) -> bool:
    if rule.scope == "library" or not (rule.ops or (rule.when and rule.when[0].kind)):
        return False
    named = not rule.ops or trace.call.name in rule.ops
    first = rule.when[:1] if rule.when and rule.when[0].kind else ()
    return named and all(condition.holds(facts, trace) for condition in first)


def _missed_call(rule: Rule, site: Site, trace: OpTrace) -> Missed:
    failed = next((it for it in rule.when if not it.holds(site.facts, trace)), None)
    place = trace.call.source
    return Missed(
        rule=rule.name,
        left=(trace.id,),
        right=trace.items,
        condition=failed.name if failed else "",
        why=failed.failure(site.facts, trace) if failed else _instead(site, trace),
        source=f"{place.file}:{place.line}" if place else "",
    )


def _instead(site: Site, trace: OpTrace) -> str:
    """Return what explains an op call that fulfils all conditions of a rule."""
    for rewrite in site.rewrites:
        if trace.id in rewrite.left:
            return f"{rewrite.rule} ({rewrite.id}) explains {trace.call.name} ({trace.id}) already: it comes first."
    return f"{trace.call.name} ({trace.id}) is kept: the same op runs on the right."
