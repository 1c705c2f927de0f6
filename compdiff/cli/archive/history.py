"""`compdiff archive history`: how a case changed."""

from collections.abc import Sequence
from itertools import groupby, pairwise
from typing import Any

import click
import msgspec

from compdiff.archive import Entry
from compdiff.archive.history import TIME, EntryChange, changes, line_of
from compdiff.cli.archive.lines import (
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
    changed where both 95 % intervals lie apart; that is a hint, no verdict.
    """
    with opened(location) as archive:
        found = archive.find(make_filter({**chosen, "case": case_name}, limit))
    if not found:
        raise CompdiffError(
            f"no run of a case {case_name!r} fits",
            "`compdiff archive list` shows which cases there are.",
        )
    histories = [_steps(list(runs)) for _, runs in groupby(sorted(found, key=_order), key=line_of)]
    if form == "json":
        click.echo(msgspec.json.format(msgspec.json.encode(histories), indent=2).decode())
        return 0
    for steps in histories:
        _print(steps)
    return 0


def _order(entry: Entry) -> tuple[object, ...]:
    return (line_of(entry), entry.created, entry.added)


def _steps(entries: Sequence[Entry]) -> list[Step]:
    later = (Step(after, tuple(changes(before, after))) for before, after in pairwise(entries))
    return [Step(entries[0]), *later]


def _print(steps: Sequence[Step]) -> None:
    first = steps[0].entry
    parts = [first.case, device_text(first), first.dtype, *_given(first)]
    click.echo(printable_text(", ".join(filter(None, parts))))
    for line in table(_HEAD, [_row(step) for step in steps]):
        click.echo(f"  {line}")


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
