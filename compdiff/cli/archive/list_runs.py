"""`compdiff archive list`: which runs there are."""

from typing import Any

import click
import msgspec

from compdiff.archive import Entry
from compdiff.cli.archive.lines import (
    SHORT_ID,
    commit_text,
    device_text,
    marks_text,
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

_HEAD = (
    "run",
    "measured (UTC)",
    "case",
    "device",
    "torch",
    "commit",
    "compiled time (95 %)",
    "marks",
)


@click.command(name="list")
@archive_option
@filter_options
@click.option(
    "-n", "--limit", type=click.IntRange(1), default=50, show_default=True, help="Newest runs."
)
@format_option
def command(location: str, *, limit: int, form: str, **chosen: Any) -> int:  # noqa: ANN401 - the filter's options
    """List runs that fit all that is asked for, newest first."""
    with opened(location) as archive:
        # One more tells whether there are more.
        found = archive.find(make_filter(chosen, limit + 1))
    if form == "json":
        click.echo(msgspec.json.format(msgspec.json.encode(found[:limit]), indent=2).decode())
        return 0
    for line in table(_HEAD, [_row(entry) for entry in found[:limit]]):
        click.echo(line)
    if len(found) > limit:
        click.echo(f"There are more than {limit}: ask with --limit, or for fewer.")
    return 0


def _row(entry: Entry) -> tuple[str, ...]:
    return (
        entry.id[:SHORT_ID],
        when_text(entry),
        entry.case,
        device_text(entry),
        entry.torch,
        commit_text(entry),
        time_text(entry.right.time),
        marks_text(entry),
    )
