"""`compdiff open`: show a report in the browser."""

import os
import sys
import webbrowser
from pathlib import Path

import click

from compdiff.errors import CompdiffError
from compdiff.store import RUN_FILE, read_run

_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")


@click.command(name="open")
@click.argument("run", type=click.Path(path_type=Path))
def command(run: Path) -> int:
    """Open the report of RUN in the browser, and print its path.

    RUN is a folder that `compdiff run` wrote, or a file in it. A report that is missing is written beside its run. Without
    a browser, as over ssh, the path is all that happens.
    """
    page = find_page(run)
    click.echo(page)
    if not has_display() or not webbrowser.open(page.resolve().as_uri()):
        click.echo("No browser here: open the file where there is one.", err=True)
    return 0


def find_page(run: Path) -> Path:
    """Return the page of a folder or of a file in it, written now where only the run is there.

    Raises:
        CompdiffError: there is neither a page nor a run.
    """
    from compdiff.report import INDEX_FILE, REPORT_FILE
    from compdiff.report.ladder_outputs import LADDER_PAGE

    if run.suffix == ".html" and run.is_file():
        return run
    folder = run if run.is_dir() else run.parent
    pages = [folder / name for name in (REPORT_FILE, LADDER_PAGE, INDEX_FILE)]
    found = next((page for page in pages if page.is_file()), None)
    if found is not None and (run.is_dir() or run.name == RUN_FILE):
        return found
    file = run / RUN_FILE if run.is_dir() else run
    if not file.is_file():
        raise CompdiffError(
            f"{run}: no report and no {RUN_FILE} there", "Give a folder that `compdiff run` wrote."
        )
    return _written(file)


def _written(file: Path) -> Path:
    """Write the report of a run beside it and return its path."""
    from compdiff.api import report_of
    from compdiff.report import write_outputs

    found = report_of(read_run(file))
    failures = found.expectation_failures
    return write_outputs(found.run, found.diff, file.parent, expectation_failures=failures).html


def has_display() -> bool:
    """Return whether a browser can show something here: on Linux, Python also finds those that take over the terminal."""
    return sys.platform != "linux" or any(os.environ.get(name) for name in _DISPLAYS)
