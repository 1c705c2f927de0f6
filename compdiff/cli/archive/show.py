"""`compdiff archive show`: one run."""

from pathlib import Path

import click
import msgspec

from compdiff.archive import Entry
from compdiff.cli.archive.lines import (
    commit_text,
    device_text,
    marks_text,
    printable_text,
    when_text,
)
from compdiff.cli.archive.settings import archive_option, format_option, opened
from compdiff.model import Run


@click.command(name="show")
@click.argument("reference", metavar="RUN")
@archive_option
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write its run and reports here.",
)
@format_option
def command(reference: str, *, location: str, out: Path | None, form: str) -> int:
    """Show RUN as `compdiff report` does; --out writes run.json.gz, report.html, summary.md and diff.json too."""
    with opened(location) as archive:
        entry = archive.resolve(reference)
        run = archive.load(entry.id)
    if form == "json":
        click.echo(msgspec.json.format(msgspec.json.encode(entry), indent=2).decode())
        return 0
    click.echo(printable_text(_about(entry)))
    if out is not None:
        from compdiff.cli.outcome import report_run

        report_run(run, out)
        return 0
    _print(run)
    return 0


def _about(entry: Entry) -> str:
    parts = [
        f"run {entry.id}",
        f"measured {when_text(entry)} UTC",
        f"on {device_text(entry)}",
        f"commit {commit_text(entry)}",
        entry.commit.branch,
        marks_text(entry),
    ]
    if entry.pin is not None and (entry.pin.by or entry.pin.why):
        parts.append(f"pinned by {entry.pin.by or '-'}: {entry.pin.why or '-'}")
    return ", ".join(filter(None, parts))


def _print(run: Run) -> None:
    from compdiff.analysis import analyse
    from compdiff.cli.console import print_page
    from compdiff.expect import judge
    from compdiff.report.view import make_page

    diff = analyse(run)
    failures = judge(run.expectation, run, diff) if run.failure is None else ()
    print_page(make_page(run, diff, failures))
