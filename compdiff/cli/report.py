"""`compdiff report`: render a saved run again."""

from pathlib import Path

import click

from compdiff.cli.formats import format_option, print_outputs
from compdiff.cli.rule_name import why_not_option
from compdiff.store import read_run


@click.command(name="report")
@click.argument("run_file", type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder [that of the run].",
)
@why_not_option
@format_option
def command(run_file: Path, out: Path | None, why_not: str, form: str) -> int:
    """Write report.html, summary.md and diff.json of RUN_FILE again, running nothing.

    RUN_FILE is a run.json.gz, or the folder with it.
    """
    from compdiff.analysis import analyse, asked
    from compdiff.expect import judge
    from compdiff.report import write_outputs

    run = read_run(run_file)
    diff = asked(run, analyse(run), why_not)
    failures = judge(run.expectation, run, diff) if run.failure is None else ()
    folder = out or (run_file if run_file.is_dir() else run_file.parent)
    print_outputs(write_outputs(run, diff, folder, expectation_failures=failures), form)
    return int(bool(failures))
