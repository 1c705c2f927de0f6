"""`compdiff archive history`: how a case changed."""

from collections.abc import Sequence
from itertools import groupby, pairwise
from typing import Any

import click
import msgspec

from compdiff.archive import Entry
from compdiff.archive.history import TIME, EntryChange, changes, line_of
from compdiff.cli.archive.lines import (
    SHORT_COMMIT,
    SHORT_ID,
    commit_text,
    device_text,
    marks_text,
    printable_text,
    table,
    time_text,
    when_text,
)
from compdiff.cli.archive.settings import (
    archive_option,
    filter_options,
    format_option,
    make_filter,
    opened,
)
from compdiff.errors import CompdiffError

_HEAD = (
    "run",
    "measured (UTC)",
    "commit",
    "torch",
    "op calls",
    "kernels",
    "rewrites",
    "breaks",
    "compiled time (95 %)",
    "changed from the line before",
)


class Step(msgspec.Struct, frozen=True):
    """One run of a history, with what changed from the one before; nothing for the first."""

    entry: Entry
    changes: tuple[EntryChange, ...] = ()


class LevelOf(msgspec.Struct, frozen=True):
    """A level of compiled over eager time, from run `first` on; `change` is the share above the level before."""

    host: str
    first: str
    commit: str
    runs: int
    ratio: float
    change: float


class History(msgspec.Struct, frozen=True):
    """The runs of one case, device and set of options, oldest first, and the levels of their times."""

    steps: list[Step]
    levels: list[LevelOf]


@click.command(name="history")
@click.argument("case_name", metavar="CASE")
@archive_option
@filter_options
@click.option(
    "-n", "--limit", type=click.IntRange(1), default=100, show_default=True, help="Newest runs."
)
@format_option
def command(
    case_name: str,
    *,
    location: str,
    limit: int,
    form: str,
    **chosen: Any,  # noqa: ANN401 - the filter's options
) -> int:
    """Show the runs of CASE, oldest first, one line each, and what changed from each to the next.

    Runs on different devices, or with other parameters or options, are told apart. A time is named as
    changed where both 95 % intervals lie apart; that is a hint, no verdict. Where the times of several runs, beside
    eager mode, moved to another level, it is said since which run: slow drift is seen that way.
    """
    with opened(location) as archive:
        found = archive.find(make_filter({**chosen, "case": case_name}, limit))
    if not found:
        raise CompdiffError(
            f"no run of a case {case_name!r} fits",
            "`compdiff archive list` shows which cases there are.",
        )
    lines = groupby(sorted(found, key=_order), key=line_of)
    histories = [_history(list(runs)) for _, runs in lines]
    if form == "json":
        click.echo(msgspec.json.format(msgspec.json.encode(histories), indent=2).decode())
        return 0
    for history in histories:
        _print(history)
    return 0


def _order(entry: Entry) -> tuple[object, ...]:
    return (line_of(entry), entry.created, entry.added)


def _history(entries: Sequence[Entry]) -> History:
    from compdiff.regression.levels import levels

    found = [
        LevelOf(one.host, one.first.id, one.first.commit.id, one.runs, one.ratio, one.change)
        for one in levels(entries)
    ]
    return History(_steps(entries), found)


def _steps(entries: Sequence[Entry]) -> list[Step]:
    later = (Step(after, tuple(changes(before, after))) for before, after in pairwise(entries))
    return [Step(entries[0]), *later]


def _print(history: History) -> None:
    steps = history.steps
    first = steps[0].entry
    parts = [first.case, device_text(first), first.dtype, *_given(first)]
    click.echo(printable_text(", ".join(filter(None, parts))))
    for line in table(_HEAD, [_row(step) for step in steps]):
        click.echo(f"  {line}")
    for level in history.levels:
        if level.change:
            click.echo(printable_text(f"  {_level_text(level)}"))


def _level_text(level: LevelOf) -> str:
    from compdiff.report.quantities import count_text

    of = f", commit {level.commit[:SHORT_COMMIT]}" if level.commit else ""
    on = f" on {level.host}" if level.host else ""
    return (
        f"from run {level.first[:SHORT_ID]}{of}{on}: {level.ratio:.3f} times eager mode, "
        f"{level.change:+.1%} ({count_text(level.runs, 'run')})"
    )


def _given(entry: Entry) -> list[str]:
    """Return parameters and options that are not default."""
    return [text for text in (entry.params, entry.options) if text != "{}"]


def _row(step: Step) -> tuple[str, ...]:
    entry = step.entry
    marks = marks_text(entry)
    return (
        entry.id[:SHORT_ID],
        when_text(entry),
        commit_text(entry),
        entry.torch,
        f"{entry.left.op_calls} -> {entry.right.op_calls}",
        str(entry.right.kernels),
        str(entry.rewrites),
        str(entry.graph_breaks),
        time_text(entry.right.time),
        "; ".join([*map(_change, step.changes), *([f"[{marks}]"] if marks else [])]),
    )


def _change(change: EntryChange) -> str:
    from compdiff.report.quantities import duration_text

    if change.name != TIME:
        return f"{change.name} {change.before or '-'} -> {change.after or '-'}"
    before_ns, after_ns = int(change.before), int(change.after)
    percent = f" ({after_ns / before_ns - 1:+.1%})" if before_ns else ""
    return f"time {duration_text(before_ns)} -> {duration_text(after_ns)}{percent}"
