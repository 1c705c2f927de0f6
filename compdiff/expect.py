"""Judges a case's EXPECT. In: an Expectation, a run, its diff. Out: one sentence for each failure."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from compdiff.align.items import left_op
from compdiff.analysis import unexplained
from compdiff.errors import CaseError
from compdiff.model import Diff, Expectation, Run
from compdiff.rewrites import RULE_NAMES
from compdiff.rewrites.outcomes import OUTCOMES

_MOST_NAMES = 8
_NUMERICS = {
    True: "agree within the tolerance",
    False: "differ by more than the tolerance",
    None: "cannot be compared",
}


@dataclass(frozen=True)
class _Judged:
    """What is judged, against what."""

    expectation: Expectation
    run: Run
    diff: Diff


def judge(expectation: Expectation | None, run: Run, diff: Diff) -> tuple[str, ...]:
    """Return the failed expectations, none when all hold or nothing is expected.

    Raises:
        CaseError: EXPECT names a rule or outcome that does not exist.
    """
    if expectation is None:
        return ()
    _check_names(expectation, run.case.file)
    judged = _Judged(expectation, run, diff)
    return tuple(sentence for check in _CHECKS for sentence in check(judged))


def _check_names(expectation: Expectation, file: str) -> None:
    unknown = sorted({*expectation.rules, *expectation.not_rules} - RULE_NAMES)
    if unknown:
        raise CaseError(
            f"{file}: EXPECT names the unknown rule {', '.join(unknown)}.",
            f"Known rules: {', '.join(sorted(RULE_NAMES))}.",
        )
    if expectation.outcome is not None and expectation.outcome not in OUTCOMES:
        raise CaseError(
            f"{file}: EXPECT names the unknown outcome {expectation.outcome!r}.",
            f"Known outcomes: {', '.join(OUTCOMES)}.",
        )


def _missing_rules(judged: _Judged) -> Iterator[str]:
    fired = {rewrite.rule for rewrite in judged.diff.rewrites}
    for name in judged.expectation.rules:
        if name not in fired:
            became = _listed(_became(judged), separator="; ")
            yield f"expected the rewrite {name}, found none; the op calls: {became}"


def _became(judged: _Judged) -> list[str]:
    """Return what became of the left op calls, those of one name and fate together."""
    rules = {rewrite.id: rewrite.rule for rewrite in judged.diff.rewrites}
    counts: Counter[str] = Counter()
    for call in judged.run.left.op_calls:
        fate = judged.diff.fates.get(left_op(call.id))
        rule = rules.get(fate.rewrite) if fate and fate.rewrite else None
        ending = f" by {rule}" if rule else ""
        counts[f"{call.name} was {fate.fate if fate else 'not seen'}{ending}"] += 1
    return [f"{text} ({count} times)" if count > 1 else text for text, count in counts.items()]


def _forbidden_rules(judged: _Judged) -> Iterator[str]:
    names = {left_op(call.id): call.name for call in judged.run.left.op_calls}
    for rewrite in judged.diff.rewrites:
        if rewrite.rule in judged.expectation.not_rules:
            ops = _listed([names.get(item, item) for item in rewrite.left])
            where = f" at {rewrite.source}" if rewrite.source else ""
            yield f"expected no rewrite {rewrite.rule}, found {rewrite.id}{where}: {ops}"


def _outcome(judged: _Judged) -> Iterator[str]:
    wanted = judged.expectation.outcome
    found = [rewrite.outcome for rewrite in judged.diff.rewrites if rewrite.outcome]
    if wanted is not None and wanted not in found:
        yield f"expected the outcome {wanted}, found {_listed(list(dict.fromkeys(found)))}"


def _numerics(judged: _Judged) -> Iterator[str]:
    wanted = judged.expectation.numerics
    within = judged.run.numerics.within if judged.run.numerics else None
    if wanted is not None and within != wanted:
        yield f"expected outputs that {_NUMERICS[wanted]}, found that they {_NUMERICS[within]}"


def _kernels(judged: _Judged) -> Iterator[str]:
    names = [kernel.name for kernel in judged.run.right.kernels]
    bounds = (judged.expectation.min_kernels, judged.expectation.max_kernels)
    yield from _bounded("kernels on the compiled side", names, *bounds)


def _op_calls(judged: _Judged) -> Iterator[str]:
    names = [call.name for call in judged.run.right.op_calls]
    most = judged.expectation.max_op_calls
    yield from _bounded("op calls on the compiled side", names, None, most)


def _graph_breaks(judged: _Judged) -> Iterator[str]:
    compiler = judged.run.right.compiler
    reasons = [item.reason for item in compiler.graph_breaks] if compiler else []
    wanted = judged.expectation.graph_breaks
    yield from _bounded("graph breaks", reasons, wanted, wanted)


def _recompiles(judged: _Judged) -> Iterator[str]:
    compiler = judged.run.right.compiler
    found = [", ".join(item.reasons) for item in compiler.recompiles] if compiler else []
    wanted = judged.expectation.recompiles
    yield from _bounded("recompiles", found, wanted, wanted)


def _unexplained(judged: _Judged) -> Iterator[str]:
    most = judged.expectation.unexplained
    if most is None or sum(unexplained(judged.diff)) <= most:
        return
    fates, origins = judged.diff.fates.items(), judged.diff.origins.items()
    items = [item for item, fate in fates if fate.fate == "unexplained"]
    items += [item for item, one in origins if not one.op_calls and not one.introduced]
    yield from _bounded("unexplained op calls and kernels", items, None, most)


def _bounded(what: str, found: Sequence[str], least: int | None, most: int | None) -> Iterator[str]:
    """Yield a sentence when there are fewer or more than allowed; None allows any number."""
    count = len(found)
    too_few, too_many = least is not None and count < least, most is not None and count > most
    if too_few or too_many:
        wanted = _wanted(least, most, too_few=too_few)
        yield f"expected {wanted} {what}, found {count}: {_listed(found)}"


def _wanted(least: int | None, most: int | None, *, too_few: bool) -> str:
    if least == most:
        return f"exactly {most}"
    return f"at least {least}" if too_few else f"at most {most}"


def _listed(names: Sequence[str], separator: str = ", ") -> str:
    """Return the names in order, the first few of many."""
    shown = separator.join(names[:_MOST_NAMES]) or "none"
    rest = len(names) - _MOST_NAMES
    return f"{shown} and {rest} more" if rest > 0 else shown


_CHECKS: tuple[Callable[[_Judged], Iterator[str]], ...] = (
    _missing_rules,
    _forbidden_rules,
    _outcome,
    _numerics,
    _kernels,
    _op_calls,
    _graph_breaks,
    _recompiles,
    _unexplained,
)
