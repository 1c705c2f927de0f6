"""`compdiff archive site`: the archive as pages."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from compdiff.archive import Archive
from compdiff.cli.archive.settings import archive_option, filter_options, make_filter, opened
from compdiff.errors import CompdiffError
from compdiff.store import write_atomic

if TYPE_CHECKING:
    from compdiff.regression.site import Line


@click.command(name="site")
@click.argument("out", type=click.Path(path_type=Path, file_okay=False))
@archive_option
@filter_options
@click.option(
    "--reports",
    type=click.IntRange(0),
    default=1,
    show_default=True,
    help="Write the reports of so many newest runs of each case and device.",
)
def command(out: Path, *, location: str, reports: int, **chosen: Any) -> int:  # noqa: ANN401 - the filter's options
    """Write the runs that fit as pages to OUT: what changed lately, cases by torch version, a history of each case.

    The pages need no network and no server. Files of OUT that are no longer needed stay.
    """
    from compdiff.regression.site import case_page, lines_by_case, page_name, site_index
    from compdiff.report.quantities import count_text
    from compdiff.report.site_pages import render_case_page, render_site_index

    with opened(location) as archive:
        by_case = lines_by_case(archive.find(make_filter(chosen)))
        if not by_case:
            raise CompdiffError("no run fits", "`compdiff archive list` shows which there are.")
        written = _reports(archive, by_case, out, reports)
    for case, lines in by_case.items():
        page = render_case_page(case_page(case, lines, written))
        write_atomic(out / "cases" / page_name(case), page.encode())
    write_atomic(out / "index.html", render_site_index(site_index(by_case)).encode())
    pages = f"{count_text(len(by_case), 'page')} and {count_text(len(written), 'report')}"
    click.echo(f"{out / 'index.html'}: {pages}")
    return 0


def _reports(
    archive: Archive, by_case: "Mapping[str, Sequence[Line]]", out: Path, most: int
) -> Mapping[str, str]:
    """Write the reports of the newest runs that are not there yet, and return their addresses by id, as pages link them."""
    from compdiff.analysis import analyse
    from compdiff.expect import judge
    from compdiff.report.html_page import render_page
    from compdiff.report.view import make_page

    found = {}
    newest = (entry for lines in by_case.values() for line in lines for entry in _last(line, most))
    for entry in newest:
        path = out / "reports" / f"{entry.id}.html"
        if not path.exists():
            run = archive.load(entry.id)
            diff = analyse(run)
            failures = judge(run.expectation, run, diff) if run.failure is None else ()
            write_atomic(path, render_page(make_page(run, diff, failures)).encode())
        found[entry.id] = f"../reports/{entry.id}.html"
    return found


def _last(line: "Line", most: int) -> "Sequence[Any]":
    return line.entries[-most:] if most else ()
