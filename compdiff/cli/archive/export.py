"""`compdiff archive export`: runs as one file."""

from pathlib import Path

import click

from compdiff.archive.exchange import export_runs
from compdiff.cli.archive.settings import archive_option, opened


@click.command(name="export")
@click.argument("references", nargs=-1, metavar="RUN...")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@archive_option
@click.option("--all", "is_all", is_flag=True, help="All runs.")
def command(references: tuple[str, ...], file: Path, *, location: str, is_all: bool) -> int:
    """Write runs, with their tags and pins, as one FILE that `compdiff archive import` reads."""
    from compdiff.report.quantities import count_text, size_text

    if is_all == bool(references):
        raise click.UsageError("Name runs, or say --all.")
    with opened(location) as archive:
        chosen = archive.find() if is_all else map(archive.resolve, references)
        entries = list({entry.id: entry for entry in chosen}.values())
        size = export_runs(archive, entries, file)
    click.echo(f"Wrote {count_text(len(entries), 'run')} ({size_text(size)}) to {file}.")
    return 0
