"""Rewrites and findings as cards. In: Lookup. Out: what was before, what is after, who did it, why it matters."""

import msgspec

from compdiff.model import Basis, Finding, OpCall, Rewrite
from compdiff.report.estimates import rewrite_text
from compdiff.report.lookup import Lookup, Ref
from compdiff.report.naming import arguments_text, outputs_text, short_place
from compdiff.report.quantities import duration_text, value_text
from compdiff.report.rows import kernel_kind
from compdiff.work import Work, rewrite_works


class CardItem(msgspec.Struct, frozen=True, gc=False):
    """One line of a card: an item and what it takes and gives. `shared` ones are explained elsewhere as well."""

    ref: Ref
    detail: str
    shared: bool = False


class RewriteCard(msgspec.Struct, frozen=True, gc=False):
    """One application of a rule, in full."""

    id: str
    rule: str
    before: tuple[CardItem, ...]
    after: tuple[CardItem, ...]
    by_pass: str
    location: str
    source: str
    why: str
    outcome: str
    outcome_why: str
    evidence: tuple[str, ...]
    works: tuple[Work, Work] | None
    estimate: str
    links: tuple[str, ...]


class NumberText(msgspec.Struct, frozen=True, gc=False):
    """A number of a finding with its name: underscores read as spaces."""

    name: str
    value: str


class FindingCard(msgspec.Struct, frozen=True, gc=False):
    """A diagnosis: what was seen, what it usually means, what to try."""

    id: str
    side: str
    title: str
    means: str
    advice: str
    numbers: tuple[NumberText, ...]
    items: tuple[Ref, ...]


def make_rewrites(lookup: Lookup) -> tuple[RewriteCard, ...]:
    """Return a card for each rewrite, in order."""
    works = rewrite_works(lookup.run, lookup.diff)
    return tuple(
        _rewrite(lookup, rewrite, works.get(rewrite.id)) for rewrite in lookup.diff.rewrites
    )


def _rewrite(lookup: Lookup, rewrite: Rewrite, works: tuple[Work, Work] | None) -> RewriteCard:
    left = [make_item(lookup, item) for item in rewrite.left]
    shared = [make_item(lookup, item, shared=True) for item in rewrite.shared]
    return RewriteCard(
        id=rewrite.id,
        rule=rewrite.rule,
        before=(*left, *shared),
        after=tuple(make_item(lookup, item) for item in rewrite.right),
        by_pass=rewrite.by_pass,
        location=rewrite.location,
        source=short_place(rewrite.source, lookup.run.case.file),
        why=rewrite.why,
        outcome=rewrite.outcome,
        outcome_why=rewrite.outcome_why,
        evidence=rewrite.evidence,
        works=works,
        estimate=rewrite_text(works),
        links=(*rewrite.left, *rewrite.shared, *rewrite.right),
    )


def make_item(lookup: Lookup, item: str, *, shared: bool = False) -> CardItem:
    """Return an item as a line of a card."""
    call = lookup.left_ops.get(item) or lookup.right_ops.get(item)
    kernel = lookup.right_kernels.get(item) or lookup.left_kernels.get(item)
    kernel_text = kernel_kind(kernel) if kernel is not None else "not in this run"
    side = lookup.run.left if item in lookup.left_ops else lookup.run.right
    detail = signature_text(call, side.basis) if call is not None else kernel_text
    return CardItem(lookup.ref(item), detail, shared)


def signature_text(call: OpCall, basis: Basis) -> str:
    """Return what an op call takes and gives: `(f32[2, 3], 1) -> f32[2]`, without what it gives where that is not known."""
    outputs = outputs_text(call, basis)
    return f"({arguments_text(call)}) -> {outputs}" if outputs else f"({arguments_text(call)})"


def make_findings(lookup: Lookup) -> tuple[FindingCard, ...]:
    """Return a card for each finding, in order."""
    return tuple(_finding(lookup, finding) for finding in lookup.diff.findings)


def _finding(lookup: Lookup, finding: Finding) -> FindingCard:
    labels = {"left": lookup.run.left.label, "right": lookup.run.right.label}
    return FindingCard(
        id=finding.id,
        side=labels.get(finding.side, finding.side),
        title=finding.title,
        means=finding.means,
        advice=finding.advice,
        numbers=tuple(_number(name, value) for name, value in sorted(finding.numbers.items())),
        items=lookup.refs(finding.items),
    )


def _number(name: str, value: float | str) -> NumberText:
    """Return a number by its name, whose ending is the unit."""
    unit = name.rpartition("_")[2]
    if unit == "ns" and not isinstance(value, str):
        return NumberText(name.removesuffix("_ns").replace("_", " "), duration_text(value))
    if unit == "percent" and not isinstance(value, str):
        return NumberText(name.removesuffix("_percent").replace("_", " "), f"{value:g} %")
    return NumberText(name.replace("_", " "), value_text(value))
