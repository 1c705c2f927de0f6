"""The table of what can happen between two runs, first match wins. In: nothing. Out: COMPARISON_RULES. A row is data."""

from dataclasses import dataclass

from compdiff.model import FateKind


@dataclass(frozen=True, kw_only=True)
class ComparisonRule:
    """A kind of change from A's items to B's.

    Attributes:
        name: kebab-case, unique.
        when: the facts of a group that must all hold, see `compdiff.rewrites.compared.facts_of`.
        fate: what becomes of the left items.
        text: the sentence for one case of it, with the fields that `compdiff.rewrites.compared` fills in.
        why: what it means, for any case.
    """

    name: str
    when: frozenset[str]
    fate: FateKind
    text: str
    why: str


def _row(name: str, when: str, fate: FateKind, text: str, why: str) -> ComparisonRule:
    return ComparisonRule(name=name, when=frozenset(when.split()), fate=fate, text=text, why=why)


COMPARISON_RULES: tuple[ComparisonRule, ...] = (
    _row(
        "op-call-removed",
        "right-none not-in-case itself",
        "removed",
        "{left} is called in A only.",
        "B's case does not make this op call: the case changed, not the compiler.",
    ),
    _row(
        "op-call-added",
        "left-none not-in-case itself",
        "removed",
        "{right} is called in B only.",
        "A's case does not make this op call: the case changed, not the compiler.",
    ),
    _row(
        "removed-with-the-case",
        "right-none not-in-case",
        "removed",
        "{left} runs in A only: B's case does not make the eager op calls behind it.",
        "The eager op calls whose work it does are in A's case only: the case changed, not the compiler.",
    ),
    _row(
        "added-with-the-case",
        "left-none not-in-case",
        "removed",
        "{right} runs in B only: A's case does not make the eager op calls behind it.",
        "The eager op calls whose work it does are in B's case only: the case changed, not the compiler.",
    ),
    _row(
        "no-longer-introduced",
        "right-none introduced",
        "removed",
        "{left} runs in A only. It does no eager op call's work ({reason}).",
        "The compiler added it in A, and no longer does.",
    ),
    _row(
        "newly-introduced",
        "left-none introduced",
        "removed",
        "{right} runs in B only. It does no eager op call's work ({reason}).",
        "The compiler adds it in B, and did not in A.",
    ),
    _row(
        "one-item-fewer",
        "right-none done-elsewhere",
        "removed",
        "{left} runs in A only; in B other items alone do {work}.",
        "Work that took an item more in A.",
    ),
    _row(
        "one-item-more",
        "left-none done-elsewhere",
        "removed",
        "{right} runs in B only; in A other items alone do {work}.",
        "Work that takes an item more in B.",
    ),
    _row(
        "no-longer-computed",
        "right-none",
        "removed",
        "{left} runs in A; in B nothing runs for {work}.",
        "The compiler removed or folded in B what it computed in A.",
    ),
    _row(
        "newly-computed",
        "left-none",
        "removed",
        "{right} runs in B; in A nothing ran for {work}.",
        "The compiler computes in B what it removed or folded in A.",
    ),
    _row(
        "other-kernels",
        "left-one right-one same-work same-name",
        "rewritten",
        "{left} launches {right_kernels} in B instead of {left_kernels}.",
        "The same op call, but the library chose other kernels for it.",
    ),
    _row(
        "lowered-otherwise",
        "left-one right-one same-work",
        "rewritten",
        "{work}: {left} in A, {right} in B.",
        "The same eager op calls run as another op or another kernel.",
    ),
    _row(
        "fusion-grew",
        "left-one right-one more-work",
        "fused",
        "{right} in B also does {extra}, beside the work of {left} in A.",
        "An item does the work of more eager op calls than before.",
    ),
    _row(
        "fusion-shrank",
        "left-one right-one less-work",
        "rewritten",
        "{right} in B no longer does {missing}, which {left} did in A.",
        "An item does the work of fewer eager op calls than before.",
    ),
    _row(
        "fusion-split",
        "left-one left-generated right-many",
        "decomposed",
        "In A one kernel, {left}, did {work}. In B {right_parts}.",
        "What one kernel did is spread over several: what lies between them is stored and read again.",
    ),
    _row(
        "split",
        "left-one right-many",
        "decomposed",
        "In A one call, {left}, did {work}. In B {right_parts}.",
        "What one call did is spread over several items.",
    ),
    _row(
        "fusion-merged",
        "left-many right-one right-generated",
        "fused",
        "In A {left_parts}. In B one kernel, {right}, does all of it.",
        "Items that ran apart are one kernel: what lies between them is no longer stored.",
    ),
    _row(
        "merged",
        "left-many right-one",
        "fused",
        "In A {left_parts}. In B one call, {right}, does all of it.",
        "Items that ran apart are one call.",
    ),
    _row(
        "regrouped",
        "",
        "rewritten",
        "In A {left_parts}. In B {right_parts}.",
        "The same work is divided among items in another way.",
    ),
)
