"""Judges a case's EXPECT. In: an Expectation, a run and its diff. Out: one sentence for each thing that is not as expected."""

from collections.abc import Callable

from compdiff.analysis import unexplained
from compdiff.errors import CaseError
from compdiff.model import Diff, Expectation, Run
from compdiff.rewrites import RULE_NAMES
from compdiff.rewrites.outcomes import OUTCOMES


def judge(expectation: Expectation | None, run: Run, diff: Diff) -> tuple[str, ...]:
    """Return the failed expectations, none when all hold or nothing is expected.

    Raises:
        CaseError: EXPECT names a rule or outcome that does not exist.
    """
    if expectation is None:
        return ()
    _check_names(expectation, run.case.file)
    return tuple(
        sentence for rule in (*_RULE_CHECKS, *_NUMBER_CHECKS) for sentence in rule(expectation, run, diff)
    )


def _check_names(expectation: Expectation, file: str) -> None:
    unknown = sorted({*expectation.rules, *expectation.not_rules} - RULE_NAMES)
    if unknown:
        message = f"{file}: EXPECT names unknown rules: {', '.join(unknown)}"
        raise CaseError(message, f"Known rules: {', '.join(sorted(RULE_NAMES))}.")
    if expectation.outcome is not None and expectation.outcome not in OUTCOMES:
        message = f"{file}: EXPECT names the unknown outcome {expectation.outcome!r}"
        raise CaseError(message, f"Known outcomes: {', '.join(OUTCOMES)}.")


def _missing_rules(expectation: Expectation, run: Run, diff: Diff) -> list[str]:
    fired = {rewrite.rule for rewrite in diff.rewrites}
    found = ", ".join(sorted(fired)) or "none"
    return [f"expected the rewrite {name}, found: {found}" for name in expectation.rules if name not in fired]


def _forbidden_rules(expectation: Expectation, run: Run, diff: Diff) -> list[str]:
    return [
        f"expected no {rewrite.rule}, found {rewrite.id} at {rewrite.source or 'an unknown line'}"
        for rewrite in diff.rewrites
        if rewrite.rule in expectation.not_rules
    ]


def _outcome(expectation: Expectation, run: Run, diff: Diff) -> list[str]:
    found = [rewrite.outcome for rewrite in diff.rewrites if rewrite.outcome]
    if expectation.outcome is None or expectation.outcome in found:
        return []
    return [f"expected the outcome {expectation.outcome}, found: {', '.join(found) or 'none'}"]


def _numerics(expectation: Expectation, run: Run, diff: Diff) -> list[str]:
    within = run.numerics.within if run.numerics else None
    if expectation.numerics is None or within == expectation.numerics:
        return []
    states = {True: "agree within the tolerance", False: "differ beyond the tolerance", None: "cannot be compared"}
    return [f"expected outputs that {states[expectation.numerics]}, but they {states[within]}"]


def _kernels(expectation: Expectation, run: Run, diff: Diff) -> list[str]:
    names = ", ".join(kernel.name for kernel in run.right.kernels) or "none"
    return _bounds("kernels", len(run.right.kernels), expectation.min_kernels, expectation.max_kernels, names)


def _op_calls(expectation: Expectation, run: Run, diff: Diff) -> list[str]:
    names = ", ".join(call.name for call in run.right.op_calls) or "none"
    return _bounds("op calls", len(run.right.op_calls), None, expectation.max_op_calls, names)


def _graph_breaks(expectation: Expectation, run: Run, diff: Diff) -> list[str]:
    breaks = run.right.compiler.graph_breaks if run.right.compiler else ()
    reasons = "; ".join(item.reason for item in breaks) or "none"
    return _exactly("graph breaks", len(breaks), expectation.graph_breaks, reasons)


def _recompiles(expectation: Expectation, run: Run, diff: Diff) -> list[str]:
    found = run.right.compiler.recompiles if run.right.compiler else ()
    reasons = "; ".join(reason for item in found for reason in item.reasons) or "none"
    return _exactly("recompiles", len(found), expectation.recompiles, reasons)


def _unexplained(expectation: Expectation, run: Run, diff: Diff) -> list[str]:
    if expectation.unexplained is None:
        return []
    ops, items = unexplained(diff)
    if ops + items <= expectation.unexplained:
        return []
    return [f"expected at most {expectation.unexplained} unexplained, found {ops} op calls and {items} on the right"]


def _bounds(what: str, count: int, least: int | None, most: int | None, names: str) -> list[str]:
    sentences = []
    if most is not None and count > most:
        sentences.append(f"expected at most {most} {what} on the compiled side, found {count}: {names}")
    if least is not None and count < least:
        sentences.append(f"expected at least {least} {what} on the compiled side, found {count}: {names}")
    return sentences


def _exactly(what: str, count: int, wanted: int | None, names: str) -> list[str]:
    if wanted is None or count == wanted:
        return []
    return [f"expected {wanted} {what}, found {count}: {names}"]


_Check = Callable[[Expectation, Run, Diff], list[str]]
_RULE_CHECKS: tuple[_Check, ...] = (_missing_rules, _forbidden_rules, _outcome, _numerics)
_NUMBER_CHECKS: tuple[_Check, ...] = (_kernels, _op_calls, _graph_breaks, _recompiles, _unexplained)
