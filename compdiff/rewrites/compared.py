"""Explains what changed between two sides. In: their items by pivots. Out: rewrites, a fate for each left item, origins.

The counterpart of `engine` for runs that are compared: its rules are rows of `comparison_rules`.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from compdiff.align.items import in_order, item_name, right_kernel, right_op
from compdiff.align.pivot import Group, Item, Pivoted
from compdiff.model import Capture, Change, Fate, Match, Origin, Rewrite, SourceLocation
from compdiff.rewrites.comparison_rules import COMPARISON_RULES, ComparisonRule
from compdiff.rewrites.engine import Explanation

_OTHER_CODE = "same name and op calls, other code"
_OTHER_ACCOUNT = "same code; the compiler counts other op calls to it"
_MOST_NAMES = 6
_MANY = {0: "none", 1: "one"}


def explain_pivoted(pivoted: Pivoted, right: Capture) -> Explanation:
    """Return what the comparison rules conclude about both sides; `right` is the right side's capture."""
    fates, origins, rewrites = {}, {}, []
    for left, other in pivoted.kept:
        fates[left.id] = Fate(fate="kept", why=_how_kept(left, other))
        origins[other.id] = Origin(op_calls=(left.id,))
    for number, group in enumerate(pivoted.groups, start=1):
        rule = rule_of(pivoted, group)
        rewrite = _rewrite(pivoted, group, rule, f"r{number}")
        rewrites.append(rewrite)
        fates |= {
            item.id: Fate(fate=rule.fate, rewrite=rewrite.id, why=rule.why) for item in group.left
        }
        origins |= {item.id: _origin(item, group, rewrite) for item in group.right}
    for kernel in right.kernels:
        if kernel.op_call is not None:
            origins[right_kernel(kernel.id)] = origins[right_op(kernel.op_call)]
    return Explanation(tuple(rewrites), _ordered(pivoted, fates), origins)


def _how_kept(left: Item, right: Item) -> str:
    if left.code != right.code:
        return _OTHER_CODE
    return "" if (left.base, left.work) == (right.base, right.work) else _OTHER_ACCOUNT


def code_changes(pivoted: Pivoted) -> tuple[Change, ...]:
    """Return the generated kernels that are kept, but whose code is not the same."""
    return tuple(
        Change(
            what="kernel",
            change="changed",
            name=right.name,
            op_calls=tuple(work_names(pivoted, right.work)),
            source=_place(source_of(pivoted, right.work)),
            detail=_OTHER_CODE,
            items=(left.id, right.id),
        )
        for left, right in pivoted.kept
        if left.code != right.code
    )


def _ordered(pivoted: Pivoted, fates: dict[str, Fate]) -> dict[str, Fate]:
    return {item.id: fates[item.id] for item in pivoted.left}


def _origin(item: Item, group: Group, rewrite: Rewrite) -> Origin:
    """Return the left items that do some of the item's work, else all of its group; none means that only B has it."""
    if not group.left:
        return Origin(introduced=rewrite.why)
    owners = [left.id for left in group.left if left.work & item.work]
    return Origin(op_calls=in_order(owners or (left.id for left in group.left)))


def matches(pivoted: Pivoted) -> tuple[Match, ...]:
    """Return a match for each kept pair and each group with both sides, with the eager op calls both do."""
    pairs = [Group((left,), (right,)) for left, right in pivoted.kept]
    pairs += [group for group in pivoted.groups if group.left and group.right]
    return tuple(_match(pivoted, pair.left, pair.right) for pair in pairs)


def _match(pivoted: Pivoted, left: Sequence[Item], right: Sequence[Item]) -> Match:
    work = _work(left) | _work(right)
    sure = bool(work) and not work & pivoted.eager.reshaped
    names = _listed(work_names(pivoted, work))
    return Match(
        left=tuple(item.id for item in left),
        right=tuple(item.id for item in right),
        by="eager op calls" if work else "kind and order",
        certainty="certain" if sure else "likely",
        evidence=f"both do {names}" if names else "no eager op call",
    )


# ---------------------------------------------------------------- rules


def rule_of(pivoted: Pivoted, group: Group) -> ComparisonRule:
    """Return the first rule whose facts all hold for the group; the last row asks for none."""
    facts = facts_of(pivoted, group)
    return next(rule for rule in COMPARISON_RULES if rule.when <= facts)


def facts_of(pivoted: Pivoted, group: Group) -> frozenset[str]:
    """Return what is true of a group, in the words that the rules use.

    `left-none`, `left-one`, `left-many` and the same for `right`; `left-generated` and `right-generated` if the compiler
    wrote one of them; `same-work`, `more-work` and `less-work` say what B's items do beside A's; `same-name`;
    `itself` if each item is an op call that only does its own eager op call's work;
    `introduced` if none does an eager op call's work; `not-in-case` if no eager op call of theirs is in both runs;
    `done-elsewhere` if items of the side that has none in the group do all of the work.
    """
    left, right = _work(group.left), _work(group.right)
    absent = pivoted.right if group.left else pivoted.left
    known = {
        f"left-{_MANY.get(len(group.left), 'many')}": True,
        f"right-{_MANY.get(len(group.right), 'many')}": True,
        "left-generated": any(item.is_generated for item in group.left),
        "right-generated": any(item.is_generated for item in group.right),
        "same-work": left == right,
        "more-work": left < right,
        "less-work": left > right,
        "same-name": {item.base for item in group.left} == {item.base for item in group.right},
        "introduced": not left | right,
        "not-in-case": bool(left | right) and not (left | right) & pivoted.eager.shared,
        "itself": all(is_itself(pivoted, item) for item in (*group.left, *group.right)),
        "done-elsewhere": (left | right) <= _work(absent),
    }
    return frozenset(fact for fact, holds in known.items() if holds)


def _work(items: Iterable[Item]) -> frozenset[int]:
    return frozenset().union(*(item.work for item in items))


# ---------------------------------------------------------------- sentences


def _rewrite(pivoted: Pivoted, group: Group, rule: ComparisonRule, identity: str) -> Rewrite:
    left, right = _work(group.left), _work(group.right)
    return Rewrite(
        id=identity,
        rule=rule.name,
        left=tuple(item.id for item in group.left),
        right=tuple(item.id for item in group.right),
        source=_place(source_of(pivoted, left | right)),
        why=rule.text.format(
            left=_listed(item.name for item in group.left),
            right=_listed(item.name for item in group.right),
            left_parts=_parts(pivoted, group.left),
            right_parts=_parts(pivoted, group.right),
            left_kernels=_listed(name for item in group.left for name in item.launched) or "none",
            right_kernels=_listed(name for item in group.right for name in item.launched) or "none",
            work=_listed(work_names(pivoted, left | right)),
            extra=_not_shared(pivoted, right - left, "A"),
            missing=_not_shared(pivoted, left - right, "B"),
            reason=next((item.reason for item in (*group.left, *group.right) if item.reason), "")
            or "not explained in its own run",
        ),
        outcome_why=rule.why,
    )


def _parts(pivoted: Pivoted, items: Sequence[Item]) -> str:
    """Return who does what: `aten::mm runs by itself and cpp_fused_add_0 does aten::add.Tensor and aten::gelu`."""
    alone = [item.name for item in items if is_itself(pivoted, item)]
    verb = "runs by itself" if len(alone) == 1 else "run by themselves"
    others = [
        f"{item.name} does {_listed(work_names(pivoted, item.work)) or 'no eager op call'}"
        for item in items
        if not is_itself(pivoted, item)
    ]
    return _listed([*([f"{_listed(alone)} {verb}"] if alone else []), *others])


def is_itself(pivoted: Pivoted, item: Item) -> bool:
    """Return whether an item is an op call that does the work of one eager op call of its own name."""
    names = [pivoted.eager.calls[pivot].name for pivot in item.work]
    return item.kind == "op call" and names == [item.made.name]


def _not_shared(pivoted: Pivoted, work: frozenset[int], other: str) -> str:
    """Return the names of the eager op calls that one side does more, with a note if the other run's case has none."""
    absent = bool(work) and not work & pivoted.eager.shared
    note = f" (not in {other}'s case)" if absent else ""
    return f"{_listed(work_names(pivoted, work))}{note}"


def work_names(pivoted: Pivoted, work: Iterable[int]) -> list[str]:
    """Return the names of the eager op calls of pivots, in order."""
    return [item_name(pivoted.eager.calls[pivot]) for pivot in sorted(work)]


def source_of(pivoted: Pivoted, work: Iterable[int]) -> SourceLocation | None:
    """Return the place of the last eager op call of `work` that has one."""
    places = [pivoted.eager.calls[pivot].source for pivot in sorted(work, reverse=True)]
    return next((place for place in places if place is not None), None)


def _place(source: SourceLocation | None) -> str:
    return f"{source.file}:{source.line}" if source else ""


def _listed(names: Iterable[str]) -> str:
    """Return an English list, repeated names counted, long ones cut: `a, b x2 and c`."""
    counts = Counter(names)
    texts = [name if count == 1 else f"{name} x{count}" for name, count in counts.items()]
    if len(texts) > _MOST_NAMES:
        texts = [*texts[: _MOST_NAMES - 1], f"{len(texts) - _MOST_NAMES + 1} more"]
    return " and ".join(part for part in (", ".join(texts[:-1]), *texts[-1:]) if part)
