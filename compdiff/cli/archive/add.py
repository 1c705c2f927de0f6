"""`compdiff archive add`: keep runs."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import click

from compdiff.archive import Archive, Commit, RunId
from compdiff.cli.archive.settings import archive_option, moment, opened
from compdiff.cli.outcome import RUN_FILE
from compdiff.errors import CompdiffError
from compdiff.model import Run
from compdiff.store import read_run


@click.command(name="add")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@archive_option
@click.option(
    "--when", metavar="TIME", callback=moment, help="When it was measured [what the run says]."
)
@click.option("--commit", default="", help="The commit it is of [what the run says].")
@click.option("--branch", default="", help="The branch it is of [what the run says].")
@click.option(
    "--dirty/--clean",
    default=None,
    help="Whether files differed from the commit [what the run says].",
)
@click.option("--tag", "tags", multiple=True, help="A name for all of them.")
def command(  # noqa: PLR0913 - one parameter for each option
    paths: tuple[Path, ...],
    *,
    location: str,
    when: datetime | None,
    commit: str,
    branch: str,
    dirty: bool | None,
    tags: tuple[str, ...],
) -> int:
    """Keep the runs of PATHS: files, or folders with a run.json.gz in or below them. Each is printed when it is safe."""
    with opened(location) as archive:
        for path in _run_files(paths):
            run = read_run(path)
            given = _commit(run, commit, branch, dirty=dirty)
            run_id = archive.add(run, when=when, commit=given)
            _tag(archive, run_id, tags)
            click.echo(f"{run_id[:12]}  {ascii(run.case.name)[1:-1]}  {path}")
    return 0


def _commit(run: Run, commit: str, branch: str, *, dirty: bool | None) -> Commit:
    """Return the state that a run is of: what was typed, and what the run says where nothing was."""
    said = run.environment
    if commit and dirty is None:
        dirty = False
    return Commit(
        id=commit or said.git_commit,
        branch=branch or said.git_branch,
        dirty=said.git_dirty if dirty is None else dirty,
    )


def _tag(archive: Archive, run_id: RunId, tags: tuple[str, ...]) -> None:
    for tag in tags:
        archive.tag(run_id, tag)


def _run_files(paths: tuple[Path, ...]) -> Iterator[Path]:
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        found = sorted(path.rglob(RUN_FILE))
        if not found:
            raise CompdiffError(
                f"no {RUN_FILE} in {path} or below it", "Give what `compdiff run` wrote."
            )
        yield from found
