"""A site of an archive. In: entries, and which runs have a report. Out: the views of its front page and case pages.

What changed lately is ordered by how bad it is: wrong outputs, a run that failed, slower times, lost rewrites, more breaks,
more kernels; then all else, and what got better.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import groupby, pairwise

import msgspec
from packaging.version import InvalidVersion, Version

from compdiff.archive.entry import Entry, Span
from compdiff.archive.history import TIME, EntryChange, changes, line_of
from compdiff.regression.levels import Level, levels, ratio_of
from compdiff.regression.structure import one_line
from compdiff.report.history_chart import HistoryChart, Series, Step, Value, draw_history
from compdiff.report.quantities import count_text, duration_text, interval_text
from compdiff.report.site_pages import (
    CasePage,
    Cell,
    LateChange,
    LineView,
    MatrixRow,
    RunRow,
    SiteIndex,
)

SHORT_ID, SHORT_COMMIT = 12, 10
_CHARTED = 200
_LATE_RUNS = 10
_MOST_CHANGES = 100
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9]+")
_NONE = "-"
# A change of a quantity that can be told good or bad: its rank, the worst first, and whether more of it is worse.
_WORSE = {
    "outputs agree": (0, False),
    "failure": (1, False),
    TIME: (2, True),
    "graph breaks": (4, True),
    "recompiles": (5, True),
    "unexplained": (6, True),
    "kernels": (7, True),
    "op calls": (8, True),
}
_OF_RULES = 3
_OTHER, _BETTER = 20, 30
_QUIET = frozenset({"torch", "Triton", "CUDA", "driver", "Python", "host", "eager op calls"})


@dataclass(frozen=True)
class Line:
    """The runs of a case on one device with one set of options, oldest first."""

    entries: Sequence[Entry]
    levels: Sequence[Level] = field(default=())

    @property
    def newest(self) -> Entry:
        """The newest run."""
        return self.entries[-1]

    @property
    def place(self) -> str:
        """The device, dtype, parameters and options, those that are not default."""
        entry = self.newest
        device = f"plan for {entry.target}" if entry.target else entry.device_name or entry.device
        parts = (device, entry.dtype, *_given(entry.params), *_given(entry.options))
        return ", ".join(one_line(part) for part in parts if part)


def _given(text: str) -> list[str]:
    """Return what a JSON object holds as `name=value`; the object in `options` as if it stood beside them."""
    try:
        found = msgspec.json.decode(text, type=dict[str, object])
    except msgspec.DecodeError:
        return [text]
    inner = found.pop("options", {})
    flat = {**found, **inner} if isinstance(inner, dict) else {**found, "options": inner}
    return [f"{name}={msgspec.json.encode(value).decode()}" for name, value in flat.items()]


def lines_by_case(entries: Sequence[Entry]) -> Mapping[str, Sequence[Line]]:
    """Return the lines of each case, by name."""
    ordered = sorted(entries, key=lambda entry: (line_of(entry), entry.created, entry.added))
    found: dict[str, list[Line]] = {}
    for _, runs in groupby(ordered, key=line_of):
        line = list(runs)
        found.setdefault(line[0].case, []).append(Line(line, levels(line)))
    return found


def page_name(case: str) -> str:
    """Return the file name of a case's page: letters, digits and dashes, and no two cases have one."""
    readable = _NOT_IN_NAMES.sub("-", case).strip("-")[:60]
    return f"{readable or 'case'}-{sha256(case.encode(errors='replace')).hexdigest()[:8]}.html"


# ---------------------------------------------------------------- a case


def case_page(case: str, lines: Sequence[Line], reports: Mapping[str, str]) -> CasePage:
    """Return the page of a case; `reports` holds the address of each run's report, by id."""
    runs = sum(len(line.entries) for line in lines)
    newest = max(line.newest.created for line in lines)
    return CasePage(
        case=one_line(case),
        summary=f"{count_text(runs, 'run')}, the newest of {newest[:10]}.",
        lines=tuple(_line_view(line, number, reports) for number, line in enumerate(lines)),
    )


def _line_view(line: Line, number: int, reports: Mapping[str, str]) -> LineView:
    shown = line.entries[-_CHARTED:]
    befores: list[Entry | None] = [None, *line.entries[:-1]][-len(shown) :]
    rows = [_run_row(before, after, reports) for before, after in zip(befores, shown, strict=True)]
    return LineView(
        title=line.place,
        anchor=f"line{number}",
        charts=tuple(chart for chart in _charts(shown, line) if chart is not None),
        levels=tuple(level_text(level) for level in line.levels if level.change),
        rows=tuple(reversed(rows)),
        more=len(line.entries) - len(shown),
    )


def level_text(level: Level) -> str:
    """Return since when the times lie at a level."""
    entry = level.first
    commit = f", commit {entry.commit.id[:SHORT_COMMIT]}" if entry.commit.id else ""
    on = f" on {one_line(level.host)}" if level.host else ""
    return (
        f"Since run {entry.id[:SHORT_ID]} of {entry.created[:10]}{commit}{on} the compiled side takes "
        f"{level.ratio:.3f} times eager mode's time, {level.change:+.1%} ({count_text(level.runs, 'run')})."
    )


def _run_row(before: Entry | None, after: Entry, reports: Mapping[str, str]) -> RunRow:
    ratio = ratio_of(after)
    marks = [*after.tags, *(["pinned"] if after.pinned else [])]
    marks += ["incomplete"] if after.failure else []
    return RunRow(
        id=after.id[:SHORT_ID],
        href=reports.get(after.id, ""),
        when=_when(after),
        commit=_commit(after),
        torch=one_line(after.torch),
        op_calls=f"{after.left.op_calls} → {after.right.op_calls}",
        kernels=str(after.right.kernels),
        rewrites=str(after.rewrites),
        breaks=str(after.graph_breaks),
        time=_time(after.right.time),
        ratio=f"{ratio:.3f}" if ratio else _NONE,
        changed=tuple(change_text(one) for one in changes(before, after)) if before else (),
        marks=", ".join(marks),
    )


def _when(entry: Entry) -> str:
    return entry.created[:16].replace("T", " ")


def _commit(entry: Entry) -> str:
    if not entry.commit.id:
        return _NONE
    return entry.commit.id[:SHORT_COMMIT] + ("+" if entry.commit.dirty else "")


def _time(span: Span | None) -> str:
    if span is None:
        return _NONE
    return f"{duration_text(span.median_ns)} ({interval_text(span.low_ns, span.high_ns)})"


def change_text(change: EntryChange) -> str:
    """Return a change with both values: `kernels 1 -> 2`."""
    if change.name != TIME:
        before, after = one_line(change.before), one_line(change.after)
        return f"{one_line(change.name)} {before or _NONE} → {after or _NONE}"
    before_ns, after_ns = int(change.before), int(change.after)
    percent = f" ({after_ns / before_ns - 1:+.1%})" if before_ns else ""
    return f"time {duration_text(before_ns)} → {duration_text(after_ns)}{percent}"


# ---------------------------------------------------------------- charts


def _charts(entries: Sequence[Entry], line: Line) -> list[HistoryChart | None]:
    commits = [entry.commit.id[:7] for entry in entries]
    if any(ratio_of(entry) for entry in entries):
        return [
            draw_history("Time per call", _time_series(entries), commits, duration_text),
            draw_history(
                "Compiled time over eager time of the same run",
                _ratio_series(entries),
                commits,
                "{:.3f}".format,
                _steps(entries, line.levels),
            ),
        ]
    return [
        draw_history(
            "Op calls and kernels of the compiled side",
            (
                _series("op calls", "left", entries, lambda entry: entry.right.op_calls),
                _series("kernels", "right", entries, lambda entry: entry.right.kernels),
            ),
            commits,
            "{:.1f}".format,
        )
    ]


def _time_series(entries: Sequence[Entry]) -> tuple[Series, ...]:
    return tuple(
        Series(name, side, tuple(_span_value(entry, span_of(entry)) for entry in entries))
        for name, side, span_of in _SIDES
    )


_SIDES: tuple[tuple[str, str, Callable[[Entry], Span | None]], ...] = (
    ("eager", "left", lambda entry: entry.left.time),
    ("compiled", "right", lambda entry: entry.right.time),
)


def _span_value(entry: Entry, span: Span | None) -> Value:
    if span is None:
        return Value(None)
    return Value(
        span.median_ns,
        span.low_ns,
        span.high_ns,
        f"{_time(span)}, {_when(entry)}, {_commit(entry)}",
    )


def _ratio_series(entries: Sequence[Entry]) -> tuple[Series, ...]:
    return (_series("compiled over eager", "right", entries, ratio_of),)


def _series(
    name: str, side: str, entries: Sequence[Entry], value_of: Callable[[Entry], float | None]
) -> Series:
    values = [(entry, value_of(entry)) for entry in entries]
    return Series(
        name,
        side,
        tuple(
            Value(
                value,
                title="" if value is None else f"{value:.3g}, {_when(entry)}, {_commit(entry)}",
            )
            for entry, value in values
        ),
    )


def _steps(entries: Sequence[Entry], found: Sequence[Level]) -> list[Step]:
    """Return the levels as lines from their first run to that of the next level of the host, those that are shown."""
    places = {entry.id: index for index, entry in enumerate(entries)}
    steps = []
    for host in dict.fromkeys(level.host for level in found):
        own = [level for level in found if level.host == host]
        last = max((places[entry.id] for entry in entries if entry.host == host), default=-1) + 1
        starts = [places.get(level.first.id, 0) for level in own]
        for level, start, stop in zip(own, starts, [*starts[1:], last], strict=True):
            if stop > start:
                steps.append(Step(start, stop, level.ratio, f"{level.ratio:.3f}"))
    return steps


# ---------------------------------------------------------------- the front page


def site_index(by_case: Mapping[str, Sequence[Line]]) -> SiteIndex:
    """Return the front page."""
    lines = [line for found in by_case.values() for line in found]
    versions = _versions(lines)
    runs = sum(len(line.entries) for line in lines)
    late = sorted(
        (change for line in lines for change in _late(line)),
        key=lambda ranked: (ranked[0], _newest_first(ranked[1].when), ranked[1].case),
    )
    return SiteIndex(
        summary=f"{count_text(runs, 'run')} of {count_text(len(by_case), 'case')}.",
        changes=tuple(change for _, change in late[:_MOST_CHANGES]),
        versions=tuple(versions),
        matrix=tuple(_matrix_row(line, versions) for line in lines),
    )


def _newest_first(when: str) -> tuple[int, ...]:
    return tuple(-ord(character) for character in when)


def _late(line: Line) -> Iterator[tuple[int, LateChange]]:
    """Yield what changed in the newest runs, with its rank; levels stand in for single changes of time."""
    recent = line.entries[-_LATE_RUNS - 1 :]
    for before, after in pairwise(recent):
        for change in changes(before, after):
            if change.name not in _QUIET and change.name != TIME:
                rank, kind = _rank(change)
                yield rank, _late_change(line, after, kind, change_text(change))
    ids = {entry.id for entry in recent}
    for level in line.levels:
        if level.change and level.first.id in ids:
            worse = level.change > 0
            text = f"compiled time beside eager mode {level.change:+.1%} (now {level.ratio:.3f})"
            rank = _WORSE[TIME][0] if worse else _BETTER
            yield rank, _late_change(line, level.first, "worse" if worse else "better", text)


def _late_change(line: Line, entry: Entry, kind: str, text: str) -> LateChange:
    return LateChange(
        kind=kind,
        case=one_line(entry.case),
        href=f"cases/{page_name(entry.case)}",
        text=text,
        place=line.place,
        when=_when(entry),
        commit=_commit(entry),
    )


def _rank(change: EntryChange) -> tuple[int, str]:
    """Return how bad a change is, and in a word."""
    if change.name not in _WORSE:
        # Rules: another count of a rewrite.
        lost = int(change.after or 0) < int(change.before or 0)
        return (_OF_RULES, "worse") if lost else (_OTHER, "other")
    rank, counted = _WORSE[change.name]
    if counted:
        return _graded(rank, worse=int(change.after or 0) > int(change.before or 0))
    return _graded(rank, worse=change.after not in {"", "yes"})


def _graded(rank: int, *, worse: bool) -> tuple[int, str]:
    return (rank, "worse") if worse else (_BETTER, "better")


def _versions(lines: Sequence[Line]) -> list[str]:
    """Return the torch versions that runs have, without what follows a +, in order."""
    found = {_version(entry) for line in lines for entry in line.entries}
    return sorted(found - {""}, key=_version_key)


def _version(entry: Entry) -> str:
    return one_line(entry.torch).partition("+")[0]


def _version_key(text: str) -> tuple[int, Version, str]:
    try:
        return (1, Version(text), text)
    except InvalidVersion:
        return (0, Version("0"), text)


def _matrix_row(line: Line, versions: Sequence[str]) -> MatrixRow:
    newest = {_version(entry): entry for entry in line.entries}
    cells, before = [], None
    for version in versions:
        entry = newest.get(version)
        cells.append(_cell(before, entry))
        before = entry or before
    return MatrixRow(
        case=one_line(line.newest.case),
        href=f"cases/{page_name(line.newest.case)}",
        place=line.place,
        cells=tuple(cells),
    )


def _cell(before: Entry | None, entry: Entry | None) -> Cell:
    if entry is None:
        return Cell("")
    ratio = ratio_of(entry)
    counts = f"{count_text(entry.right.kernels, 'kernel')}, {count_text(entry.right.op_calls, 'op call')}"
    ranked = [_rank(one) for one in changes(before, entry) if _counts(one)] if before else []
    kind = min(ranked, default=(_OTHER, "other"))[1]
    return Cell(
        text="failed" if entry.failure else f"{ratio:.2f}x" if ratio else "not timed",
        note=counts,
        kind=kind if kind != "other" else "",
    )


def _counts(change: EntryChange) -> bool:
    """Return whether a change is one of structure: times of two days are judged by their levels alone."""
    return change.name not in _QUIET and change.name != TIME
