"""What the compilers of two runs say otherwise. In: both runs with their own diffs. Out: changes, lost ones first.

A rewrite is the same in both runs if its rule and its eager op calls are; a break or recompile if its reason is.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from compdiff.align.items import item_name
from compdiff.align.pivot import EagerPairs
from compdiff.align.sides import pivots_by_id
from compdiff.model import Change, ChangeKind, Compiler, Diff, Finding, OpCall, Rewrite, Run

_ORDER = {"lost": 0, "gained": 1, "changed": 2}
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}\b|\b\d{12,}\b")


def stable_text(text: str) -> str:
    """Return a text of the compiler without memory addresses and object ids, which differ in each process."""
    return _ADDRESS.sub("<address>", text)


@dataclass(frozen=True)
class Explained:
    """A run with its own diff, and the pivot of each of its eager op calls by id."""

    run: Run
    diff: Diff
    pivots: Mapping[str, int]

    def work(self, rewrite: Rewrite) -> frozenset[int]:
        """Return the pivots of the eager op calls that a rewrite explains."""
        return frozenset(self.pivots[op] for op in rewrite.left)


def explained(run: Run, diff: Diff, pivots: Sequence[int]) -> Explained:
    """Return a run with its diff and pivots."""
    return Explained(run, diff, pivots_by_id(run, pivots))


def compiler_changes(
    pairs: EagerPairs, a: Explained, b: Explained
) -> tuple[tuple[Change, ...], dict[str, int]]:
    """Return what the compiled sides of A and B have otherwise, and how many of each kind they share."""
    found = [
        _rewrites(pairs, a, b),
        _counted("graph break", _breaks(a.run.right.compiler), _breaks(b.run.right.compiler)),
        _counted("recompile", _recompiles(a.run.right.compiler), _recompiles(b.run.right.compiler)),
        _counted("finding", _findings(a.diff.findings), _findings(b.diff.findings)),
    ]
    changes = tuple(
        change
        for changed, _ in found
        for change in sorted(changed, key=lambda change: _ORDER[change.change])
    )
    kinds = ("rewrite", "graph break", "recompile", "finding")
    return changes, {kind: same for kind, (_, same) in zip(kinds, found, strict=True)}


def case_changes(pairs: EagerPairs) -> tuple[tuple[Change, ...], dict[str, int]]:
    """Return the eager op calls that one run alone makes or that have other shapes, and how many both make alike."""
    left, right = set(pairs.left), set(pairs.right)
    kinds: dict[ChangeKind, set[int]] = {
        "lost": left - right,
        "gained": right - left,
        "changed": set(pairs.reshaped),
    }
    detail = {"changed": "other shapes or dtypes"}
    changes = tuple(
        Change(
            what="eager op call",
            change=change,
            name=item_name(pairs.calls[pivot]),
            source=_place(pairs.calls[pivot]),
            detail=detail.get(change, ""),
        )
        for change, pivots in kinds.items()
        for pivot in sorted(pivots)
    )
    return changes, {"eager op call": len(pairs.shared) - len(pairs.reshaped)}


# ---------------------------------------------------------------- rewrites


def _rewrites(pairs: EagerPairs, a: Explained, b: Explained) -> tuple[list[Change], int]:
    """Return the rewrites that one run alone has, and those of a rule whose op calls or outcome are not the same."""
    both, before, after = _same_rewrites(a, b)
    for old in list(before):
        new = next((new for new in after if _overlap(a, b, old, new)), None)
        if new is not None:
            before.remove(old)
            after.remove(new)
            both.append((old, new))
    changes: list[Change] = []
    for old, new in both:
        detail = _difference(pairs, (a.work(old), b.work(new)), (old.outcome, new.outcome))
        changes += [_change(pairs, "changed", b, new, detail)] if detail else []
    same = len(both) - len(changes)
    changes += [_change(pairs, "lost", a, old, _instead("B", a.work(old), b)) for old in before]
    changes += [_change(pairs, "gained", b, new, _instead("A", b.work(new), a)) for new in after]
    return changes, same


def _same_rewrites(
    a: Explained, b: Explained
) -> tuple[list[tuple[Rewrite, Rewrite]], list[Rewrite], list[Rewrite]]:
    """Return pairs of one rule on the same eager op calls, and what A and B have besides."""
    waiting: dict[tuple[str, frozenset[int]], list[Rewrite]] = defaultdict(list)
    for new in b.diff.rewrites:
        waiting[new.rule, b.work(new)].append(new)
    pairs, before = [], []
    for old in a.diff.rewrites:
        candidates = waiting[old.rule, a.work(old)]
        if candidates:
            pairs.append((old, candidates.pop(0)))
        else:
            before.append(old)
    left_over = {new.id for rest in waiting.values() for new in rest}
    return pairs, before, [new for new in b.diff.rewrites if new.id in left_over]


def _overlap(a: Explained, b: Explained, old: Rewrite, new: Rewrite) -> bool:
    return old.rule == new.rule and bool(a.work(old) & b.work(new))


def _difference(
    pairs: EagerPairs, work: tuple[frozenset[int], frozenset[int]], outcomes: tuple[str, str]
) -> str:
    before, after = work
    parts = (
        f"outcome {outcomes[0] or 'none'} -> {outcomes[1] or 'none'}"
        if outcomes[0] != outcomes[1]
        else "",
        f"now also {_names(pairs, after - before)}" if after - before else "",
        f"no longer {_names(pairs, before - after)}" if before - after else "",
    )
    return "; ".join(part for part in parts if part)


def _change(
    pairs: EagerPairs, change: ChangeKind, side: Explained, rewrite: Rewrite, detail: str
) -> Change:
    outcome = f" ({rewrite.outcome})" if rewrite.outcome else ""
    return Change(
        what="rewrite",
        change=change,
        name=f"{rewrite.rule}{outcome}",
        op_calls=tuple(item_name(pairs.calls[pivot]) for pivot in sorted(side.work(rewrite))),
        source=rewrite.source,
        detail=detail,
    )


def _instead(letter: str, work: frozenset[int], other: Explained) -> str:
    """Return what became of the same eager op calls in the other run: `in B: kept, view-elimination`."""
    rules = {rewrite.id: rewrite.rule for rewrite in other.diff.rewrites}
    fates = [other.diff.fates[op] for op, pivot in other.pivots.items() if pivot in work]
    texts = dict.fromkeys(rules.get(fate.rewrite or "", fate.fate) for fate in fates)
    return f"in {letter}: {', '.join(texts)}" if texts else f"not in {letter}'s case"


def _names(pairs: EagerPairs, work: Iterable[int]) -> str:
    counts = Counter(item_name(pairs.calls[pivot]) for pivot in sorted(work))
    return ", ".join(name if n == 1 else f"{name} x{n}" for name, n in counts.items())


# ---------------------------------------------------------------- what the compiler said


@dataclass(frozen=True)
class _Fact:
    """Something either run has or not: the same if name and text are."""

    name: str
    text: str = ""


def _counted(
    what: str, before: Iterable[tuple[_Fact, str]], after: Iterable[tuple[_Fact, str]]
) -> tuple[list[Change], int]:
    """Return the facts that one run has more often than the other, and how many both have; each comes with its place."""
    left, right = list(before), list(after)
    places = dict([*left, *right])
    counts = Counter(fact for fact, _ in left), Counter(fact for fact, _ in right)
    more: dict[ChangeKind, Counter[_Fact]] = {
        "lost": counts[0] - counts[1],
        "gained": counts[1] - counts[0],
    }
    changes = [
        Change(what=what, change=change, name=fact.name, source=places[fact], detail=fact.text)
        for change, facts in more.items()
        for fact in facts.elements()
    ]
    return changes, (counts[0] & counts[1]).total()


def _breaks(compiler: Compiler | None) -> Iterator[tuple[_Fact, str]]:
    for item in compiler.graph_breaks if compiler else ():
        frame = item.stack[-1] if item.stack else None
        line = frame.text.strip() if frame else ""
        yield (
            _Fact(stable_text(item.reason), line),
            f"{frame.file}:{frame.line}" if frame else "",
        )


def _recompiles(compiler: Compiler | None) -> Iterator[tuple[_Fact, str]]:
    for item in compiler.recompiles if compiler else ():
        reasons = "; ".join(stable_text(reason) for reason in item.reasons)
        yield _Fact(f"{item.compile_id}: {reasons}"), ""


def _findings(findings: Iterable[Finding]) -> Iterator[tuple[_Fact, str]]:
    """Yield the findings that rest on no measured time: those of two runs cannot be compared."""
    for finding in findings:
        if not finding.timed:
            yield _Fact(finding.title), ""


def _place(call: OpCall) -> str:
    return f"{call.source.file}:{call.source.line}" if call.source else ""
