"""`compdiff archive prune`: remove old runs."""

from datetime import timedelta
from typing import Any

import click

from compdiff.archive import Entry
from compdiff.archive.prune import Policy, doomed_runs, prune
from compdiff.cli.archive.lines import SHORT_ID, marks_text, printable_text, when_text
from compdiff.cli.archive.settings import (
    age,
    archive_option,
    filter_options,
    make_filter,
    opened,
)


@click.command(name="prune")
@archive_option
@click.option(
    "--keep", type=click.IntRange(0), help="Spare the newest so many of each case on each device."
)
@click.option(
    "--older-than", metavar="AGE", callback=age, help="Spare what is younger: 12h, 30d, 8w, 6m, 1y."
)
@click.option("--dry-run", is_flag=True, help="Only say which runs would go.")
@filter_options
def command(
    location: str,
    *,
    keep: int | None,
    older_than: timedelta | None,
    dry_run: bool,
    **chosen: Any,  # noqa: ANN401 - the filter's options
) -> int:
    """Remove runs that are not pinned and that neither --keep nor --older-than spares, then blobs that no run needs.

    Without either only what killed writers left is removed. It is safe while others add runs.
    """
    from compdiff.report.quantities import count_text, size_text

    policy = Policy(wanted=make_filter(chosen), keep=keep, older_than=older_than)
    with opened(location) as archive:
        if dry_run:
            _print(doomed_runs(archive, policy))
            return 0
        found = prune(archive, policy)
    _print(found.runs)
    blobs = count_text(found.blobs, "blob")
    click.echo(
        f"Removed {count_text(len(found.runs), 'run')} and {blobs} ({size_text(found.bytes)})."
    )
    return 0


def _print(entries: tuple[Entry, ...]) -> None:
    for entry in entries:
        parts = (entry.id[:SHORT_ID], when_text(entry), entry.case, marks_text(entry))
        click.echo(printable_text("  ".join(parts)).rstrip())
