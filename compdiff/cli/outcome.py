"""What every command does with a finished run. In: a Run. Out: its files, its summary on stdout, an exit code."""

from pathlib import Path
from typing import TYPE_CHECKING

from compdiff.cli import print_error
from compdiff.errors import CompdiffError
from compdiff.model import Run
from compdiff.store import write_run

if TYPE_CHECKING:
    from compdiff.report import IndexEntry

RUN_FILE = "run.json.gz"


def report_run(run: Run, folder: Path, why_not: str = "") -> "tuple[IndexEntry, int]":
    """Save a run with what is derived from it, print it; return (line of the index, exit code).

    `why_not` names a rule that the user asks about.
    """
    from compdiff.analysis import analyse, asked
    from compdiff.cli.console import print_summary
    from compdiff.expect import judge
    from compdiff.report import IndexEntry, write_outputs

    write_run(run, folder / RUN_FILE)
    diff = asked(run, analyse(run), why_not)
    failures = judge(run.expectation, run, diff) if run.failure is None else ()
    outputs = write_outputs(run, diff, folder, expectation_failures=failures)
    print_summary(outputs)
    if run.failure is not None:
        # A traceback ends with the message; some of torch's are a page long.
        message, traceback = run.failure.message, run.failure.traceback
        first = message.partition("\n")[0] if traceback else message
        message = f"{run.case.name}: {first}\n{traceback}".rstrip()
        print_error(CompdiffError(message, "What was measured before is in the report."))
    code = 2 if run.failure is not None else int(bool(failures))
    return IndexEntry(case=run.case.name, outputs=outputs), code
