"""What every command does with a finished run. In: a Run. Out: its files, its summary on stdout, an exit code."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from compdiff import store
from compdiff.cli import print_error
from compdiff.cli.formats import DEFAULT_FORMAT, print_outputs
from compdiff.errors import CompdiffError
from compdiff.model import Run

if TYPE_CHECKING:
    from compdiff.report import IndexEntry, Outputs

RUN_FILE = store.RUN_FILE


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """Where the files of a run are, which expectations failed, and the exit code."""

    outputs: "Outputs"
    expectation_failures: tuple[str, ...]
    exit_code: int


def save_run(run: Run, folder: Path, why_not: str = "") -> Saved:
    """Save a run with what is derived from it, and print nothing. `why_not` names a rule that the user asks about."""
    from compdiff.analysis import analyse, asked
    from compdiff.expect import judge
    from compdiff.report import write_outputs

    store.write_run(run, folder / RUN_FILE)
    diff = asked(run, analyse(run), why_not)
    failures = judge(run.expectation, run, diff) if run.failure is None else ()
    return Saved(
        outputs=write_outputs(run, diff, folder, expectation_failures=failures),
        expectation_failures=failures,
        exit_code=2 if run.failure is not None else int(bool(failures)),
    )


def report_run(
    run: Run, folder: Path, *, why_not: str = "", form: str = DEFAULT_FORMAT
) -> "tuple[IndexEntry, int]":
    """Save a run with what is derived from it, print it; return (line of the index, exit code).

    `why_not` names a rule that the user asks about, `form` is a format of `compdiff.cli.formats`.
    """
    from compdiff.report import IndexEntry

    saved = save_run(run, folder, why_not)
    print_outputs(saved.outputs, form)
    print_failure(run)
    return IndexEntry(case=run.case.name, outputs=saved.outputs), saved.exit_code


def print_failure(run: Run) -> None:
    """Print why a run is incomplete, to stderr; nothing for a whole one."""
    if run.failure is None:
        return
    # A traceback ends with the message; some of torch's are a page long.
    message, traceback = run.failure.message, run.failure.traceback
    first = message.partition("\n")[0] if traceback else message
    message = f"{run.case.name}: {first}\n{traceback}".rstrip()
    print_error(CompdiffError(message, "What was measured before is in the report."))
