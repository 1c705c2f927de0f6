"""`compdiff archive import`: the runs of a file."""

from pathlib import Path

import click

from compdiff.archive.exchange import import_runs
from compdiff.cli.archive.settings import archive_option, opened


@click.command(name="import")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@archive_option
def command(file: Path, *, location: str) -> int:
    """Add the runs of FILE, with their tags and pins. Those that are there already stay as they are."""
    from compdiff.report.quantities import count_text

    with opened(location) as archive:
        before = {entry.id for entry in archive.find()}
        ids = import_runs(archive, file)
    new = count_text(len(set(ids) - before), "new run")
    click.echo(f"{new} of {len(set(ids))} in {file}.")
    return 0
