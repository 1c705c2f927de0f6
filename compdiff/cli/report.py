"""`compdiff report`: render a saved run again."""

from pathlib import Path

import click

from compdiff.cli.rule_name import why_not_option
from compdiff.store import read_run


@click.command(name="report")
@click.argument("run_file", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder [that of the run].",
)
@why_not_option
def command(run_file: Path, out: Path | None, why_not: str) -> int:
    """Write report.html, summary.md and diff.json of RUN_FILE again, running nothing."""
    from compdiff.analysis import analyse, asked
    from compdiff.cli.console import print_summary
    from compdiff.expect import judge
    from compdiff.report import write_outputs

    run = read_run(run_file)
    diff = asked(run, analyse(run), why_not)
    failures = judge(run.expectation, run, diff) if run.failure is None else ()
    print_summary(write_outputs(run, diff, out or run_file.parent, expectation_failures=failures))
    return int(bool(failures))
