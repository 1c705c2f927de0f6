"""Whether cases are what they should be. In: runs, a lock, baseline runs, a Config. Out: a Result for each case.

The structural part (`changes`) is deterministic; times are a second gate, judged only where both sides were measured on
one machine. What a run cannot tell is a note, never a failure.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal

from compdiff.align.items import item_name
from compdiff.analysis import analyse, unexplained
from compdiff.model import Diff, OutputError, Run, SourceLocation
from compdiff.regression.changes import changed_lines, changes, same_structure
from compdiff.regression.config import Config, Limits
from compdiff.regression.lock import Lock
from compdiff.regression.structure import Stanza, stanza_of
from compdiff.regression.times import TimeChange, judge

Status = Literal["passed", "failed", "error"]
_DEFINITION = re.compile(r"^[ \t]*(def fn\b|fn\s*=|class Model\b|Model\s*=)", re.MULTILINE)
# Errors below this are rounding of any computation in float32: that they grow says nothing.
_ROUNDING = 1e-6
_PERCENT = 100


@dataclass(frozen=True)
class Problem:
    """One reason why a case fails: `kind` and `change` are stable words, `text` is for people, `line` in the case's file."""

    kind: str
    change: str
    name: str
    text: str
    line: int = 1

    @property
    def rule(self) -> str:
        """The stable name of what is wrong: `rewrite-lost`."""
        return f"{self.kind.replace(' ', '-')}-{self.change.replace(' ', '-')}"


@dataclass(frozen=True)
class Result:
    """What a check says of one case. `lines` are those of the lock that differ, `allowed` what would fail but may be."""

    case: str
    where: str = ""
    file: str = ""
    status: Status = "passed"
    problems: tuple[Problem, ...] = ()
    allowed: tuple[Problem, ...] = ()
    lines: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    stanza: Stanza | None = None
    time: TimeChange | None = None


@dataclass(frozen=True)
class Given:
    """What is known of one case: its runs now (several confirm its time), those of the baseline, its stanza in the lock."""

    runs: Sequence[Run]
    baseline: Sequence[Run] = ()
    locked: Stanza | None = None


@dataclass(frozen=True)
class _Checked:
    """A given case with what follows from it."""

    given: Given
    limits: Limits
    stanza: Stanza
    diff: Diff
    expected: Stanza | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def run(self) -> Run:
        """The run in question."""
        return self.given.runs[0]


def check_case(given: Given, config: Config) -> Result:
    """Return whether one case is what it should be, with everything that is not."""
    run = given.runs[0]
    if run.failure is not None:
        first = run.failure.message.partition("\n")[0]
        problem = Problem(
            "run", "failed", run.failure.stage, f"ended in {run.failure.stage}: {first}"
        )
        return Result(run.case.name, file=run.case.file, status="error", problems=(problem,))
    checked = _checked(given, config.limits_of(run.case.name))
    if (config.baseline or config.archive) and not given.baseline:
        checked.notes.append(
            "the baseline has no run of it: time, memory and errors are not compared"
        )
    time = _time(checked, any_host=config.any_host)
    found = [problem for part in _PARTS for problem in part(checked)]
    found += _slower(checked, time)
    kept = [one for one in found if not _allowed(run.case.name, one, config.allow)]
    return Result(
        case=run.case.name,
        where=checked.stanza.where,
        file=run.case.file,
        status="failed" if kept else "passed",
        problems=tuple(kept),
        allowed=tuple(one for one in found if one not in kept),
        lines=tuple(changed_lines(checked.expected, checked.stanza)) if checked.expected else (),
        notes=tuple(dict.fromkeys(checked.notes)),
        stanza=checked.stanza,
        time=time,
    )


def without_runs(lock: Lock, results: Sequence[Result]) -> list[Result]:
    """Return a failed Result for each case of the lock, at places that were checked, that has no run."""
    places = {result.where for result in results}
    seen = {(result.case, result.where) for result in results}
    errors = {result.case for result in results if result.status == "error"}
    text = "is in the lock, but there is no such case: write the lock anew if it is gone on purpose"
    return [
        Result(case, where, status="failed", problems=(Problem("case", "lost", case, text),))
        for case, where in sorted(lock)
        if where in places and (case, where) not in seen and case not in errors
    ]


def _checked(given: Given, limits: Limits) -> _Checked:
    run = given.runs[0]
    diff = analyse(run)
    expected = given.locked or (stanza_of(given.baseline[0]) if given.baseline else None)
    return _Checked(given, limits, stanza_of(run, diff), diff, expected)


def _allowed(case: str, problem: Problem, patterns: Sequence[str]) -> bool:
    """Return whether a pattern fits `case: kind change: name`."""
    key = f"{case}: {problem.kind} {problem.change}: {problem.name}"
    return any(fnmatchcase(key, pattern) for pattern in patterns)


# ---------------------------------------------------------------- parts


def _structure(checked: _Checked) -> Iterator[Problem]:
    """Yield what the compiled side lost and gained since the lock, or since the baseline."""
    expected, stanza = checked.expected, checked.stanza
    if expected is None:
        text = "is not in the lock: `compdiff lock` puts it there"
        yield Problem("case", "new", stanza.case, text, _line(checked, ()))
        return
    if expected.torch != stanza.torch:
        checked.notes.append(f"torch {expected.torch} -> {stanza.torch}")
    for change in changes(expected, stanza):
        yield Problem(
            change.what, change.change, change.name, change.text, _line(checked, change.op_calls)
        )
    yield from _unsteady(checked)


def _unsteady(checked: _Checked) -> Iterator[Problem]:
    """Yield that runs of now do not have the same structure."""
    for run in checked.given.runs[1:]:
        if not same_structure(checked.stanza, stanza_of(run)):
            text = "two runs of the same case were compiled to different things"
            yield Problem("structure", "unsteady", checked.stanza.case, text)


def _counts(checked: _Checked) -> Iterator[Problem]:
    """Yield the limits on counts that are exceeded."""
    limits = checked.limits
    sections = {
        "op calls": limits.op_calls,
        "kernels": limits.kernels,
        "graph breaks": limits.graph_breaks,
        "recompiles": limits.recompiles,
        "copies introduced": limits.copies_introduced,
    }
    counts = {name: sum(checked.stanza.section(name).values()) for name in sections}
    sections["unexplained items"] = limits.unexplained
    counts["unexplained items"] = sum(unexplained(checked.diff))
    for name, most in sections.items():
        if most is not None and counts[name] > most:
            text = f"{counts[name]} {name}, at most {most} are allowed"
            yield Problem("limit", "exceeded", name, text, _line(checked, ()))


def _numerics(checked: _Checked) -> Iterator[Problem]:
    """Yield that outputs are wrong, or that their error grew since the baseline."""
    now = checked.run.numerics
    wanted = checked.run.expectation.numerics if checked.run.expectation else None
    if now is None or not now.comparable or checked.limits.numerics is None:
        return
    if now.within is False and wanted is not False:
        size = now.between.max_abs if now.between else 0.0
        text = f"eager and compiled outputs differ by up to {size:.3g}, more than the tolerance"
        yield Problem("numerics", "wrong", "outputs", text, _line(checked, ()))
        return
    before = [run.numerics.right for run in checked.given.baseline if run.numerics]
    known = [error for error in before if error is not None]
    if known and now.right is not None:
        yield from _drifted(checked, known, now.right, now.left)


def _drifted(
    checked: _Checked, before: Sequence[OutputError], now: OutputError, eager: OutputError | None
) -> Iterator[Problem]:
    old = max(error.max_rel for error in before)
    # An eager side that is as wrong has other inputs, or a harder problem: the compiler did not do it.
    least = max(old, eager.max_rel if eager else 0.0, _ROUNDING)
    if checked.limits.numerics is not None and now.max_rel > checked.limits.numerics * least:
        text = (
            f"error against float64 grew from {old:.2g} to {now.max_rel:.2g} (relative), "
            f"more than {checked.limits.numerics:g} times"
        )
        yield Problem("numerics", "drifted", "outputs", text, _line(checked, ()))


def _memory(checked: _Checked) -> Iterator[Problem]:
    """Yield that the compiled side's peak of memory grew."""
    now, limit = checked.run.right.peak_bytes, checked.limits.memory
    before = [run.right.peak_bytes for run in checked.given.baseline if run.right.peak_bytes]
    if not before or now is None or limit is None:
        return
    share = now / max(before) - 1
    if share > limit:
        text = f"peak memory grew by {share * _PERCENT:.1f} % (to {now} bytes), more than {limit * _PERCENT:g} %"
        yield Problem("memory", "grew", "peak", text, _line(checked, ()))


def _time(checked: _Checked, *, any_host: bool) -> TimeChange | None:
    """Return the verdict on the compiled side's time; None where nobody asks, or nothing was measured."""
    limit = checked.limits.slowdown
    if limit is None or not checked.given.baseline or checked.run.timing is None:
        return None
    time = judge(checked.given.baseline, checked.given.runs, limit, any_host=any_host)
    if time.verdict in {"not compared", "unclear"}:
        checked.notes.append(f"time {time.verdict}: {time.why}")
    return time


def _slower(checked: _Checked, time: TimeChange | None) -> list[Problem]:
    if time is None or time.verdict != "slower" or time.ratio is None:
        return []
    share = (time.ratio.median - 1) * _PERCENT
    text = f"slower by {share:.1f} %: {time.why}"
    return [Problem("time", "slower", "compiled", text, _line(checked, ()))]


_PARTS: tuple[Callable[[_Checked], Iterator[Problem]], ...] = (
    _structure,
    _counts,
    _numerics,
    _memory,
)


# ---------------------------------------------------------------- places


def _line(checked: _Checked, op_calls: Sequence[str]) -> int:
    """Return the line in the case's file of the first of the op calls, else of the function."""
    names = {name.partition(" x")[0] for name in op_calls}
    run = checked.run
    sources = [call.source for call in run.left.op_calls if item_name(call) in names]
    own = [source.line for source in sources if source and _is_own(source, run)]
    if own:
        return own[0]
    found = _DEFINITION.search(run.case.source)
    return run.case.source.count("\n", 0, found.start()) + 1 if found else 1


def _is_own(source: SourceLocation, run: Run) -> bool:
    return bool(run.case.file) and source.file.endswith(run.case.file.rpartition("/")[2])
