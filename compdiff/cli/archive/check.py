"""`compdiff archive check`: whether the newest runs of an archive are what the pinned ones were."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from compdiff.archive import Entry, RunId
from compdiff.archive.history import line_of
from compdiff.cli.archive.settings import archive_option, filter_options, make_filter, opened
from compdiff.cli.baseline import PINNED, from_archive
from compdiff.cli.check import write_results
from compdiff.cli.gate import config_of
from compdiff.errors import CompdiffError
from compdiff.model import Run

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command(name="check")
@archive_option
@filter_options
@click.option(
    "--baseline", default=PINNED, show_default=True, help="What to compare with: a tag, a commit."
)
@click.option("--config", type=_FILE, help="Settings, as in `compdiff check`.")
@click.option("--junit", type=_FILE, help="Write JUnit XML there.")
@click.option("--sarif", type=_FILE, help="Write SARIF 2.1.0 there.")
@click.option("--markdown", type=_FILE, help="Write a comment for a pull request there.")
def command(  # noqa: PLR0913 - one for each option
    location: str,
    *,
    baseline: str,
    config: Path | None,
    junit: Path | None,
    sarif: Path | None,
    markdown: Path | None,
    **chosen: Any,  # noqa: ANN401 - the filter's options
) -> int:
    """Check the newest run that fits, of each case and device, against the pinned ones: exit code 1 when one is worse.

    Nothing is run, and no lock is read. Cases that have no pinned run are named and pass.
    """
    from compdiff.regression.check import Given, check_case
    from compdiff.regression.outputs import exit_code, table
    from compdiff.regression.runs import by_key

    asked = config_of(config, archive=location, baseline=baseline)
    with opened(location) as archive:
        newest = _newest(archive.find(make_filter(chosen)))
        taken = by_key(archive.load(run) for run in newest)
    known = from_archive(asked, list(taken))
    judged = {key: runs for key, runs in taken.items() if key in known}
    results = [
        check_case(Given(runs[:1], _others(known[key], runs[0])), asked)
        for key, runs in judged.items()
    ]
    results.sort(key=lambda one: (one.case, one.where))
    write_results(results, {"junit": junit, "sarif": sarif, "markdown": markdown})
    click.echo(table(results))
    for case, where in sorted(taken.keys() - judged.keys()):
        click.echo(f"no run of {case} on {where} is {baseline}: not checked")
    return exit_code(results)


def _newest(entries: Sequence[Entry]) -> list[RunId]:
    """Return the newest run of each line of history; entries come newest first."""
    if not entries:
        raise CompdiffError("no run fits", "`compdiff archive list` shows which there are.")
    found: dict[object, RunId] = {}
    for entry in entries:
        found.setdefault(line_of(entry), entry.id)
    return list(found.values())


def _others(known: Sequence[Run], run: Run) -> Sequence[Run]:
    """Return the runs to compare with, the run itself left out unless it is the only one."""
    return [one for one in known if one != run] or known
