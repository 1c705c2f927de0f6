"""`compdiff run --ladder`: each case eagerly and compiled in several modes, as one table and one page."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import click
import msgspec

from compdiff.cli import print_bug, print_error
from compdiff.cli.outcome import print_failure, save_run
from compdiff.errors import CompdiffError
from compdiff.ladder.rungs import DEFAULT, RUNGS, RungKind, options_of
from compdiff.model import CaseSpec, CompileOptions, Run

if TYPE_CHECKING:
    from compdiff.cli.run import Settings
    from compdiff.ladder.build import Climbed
    from compdiff.report.ladder_outputs import LadderEntry


class Capture(Protocol):
    """What measures or plans one rung in a child process: `compdiff.cli.run.capture_rung`."""

    def __call__(self, spec: CaseSpec, settings: "Settings", rung: str) -> Run:
        """Return the run of the case with these settings."""


# Enough for an interval of each part; with a warm-up they take a second or less of most cases.
_PROFILED_STEPS = 30


def climb_all(specs: Sequence[CaseSpec], settings: "Settings", capture: Capture) -> int:
    """Run the ladder of each case and return the worst exit code; several cases get an index.

    Raises:
        CompdiffError: a mode or a backend was asked for.
    """
    from compdiff.report.ladder_outputs import write_ladder_index

    _check_options(settings.options)
    results = [_climb_safely(spec, settings, capture) for spec in specs]
    if len(results) > 1:
        index = write_ladder_index(settings.out, [entry for entry, _ in results])
        click.echo(f"All ladders: {index}")
    return max(code for _, code in results)


def _check_options(options: CompileOptions) -> None:
    """Refuse what the ladder itself varies.

    Raises:
        CompdiffError: a mode or a backend was asked for.
    """
    if options.mode is not None or options.backend != CompileOptions().backend:
        raise CompdiffError(
            "--ladder runs the case in several modes and backends itself",
            "Leave out --mode and --backend.",
        )


def _climb_safely(
    spec: CaseSpec, settings: "Settings", capture: Capture
) -> "tuple[LadderEntry, int]":
    """Run the ladder of one case; an error of it leaves the other cases theirs."""
    from compdiff.report.ladder_outputs import LadderEntry

    try:
        return _climb(spec, settings, capture)
    except CompdiffError as error:
        print_error(error)
        return LadderEntry(case=spec.name, failure=error.message), error.exit_code
    except Exception as error:  # noqa: BLE001 - a bug that one case brings to light, as in `compdiff.cli.run`
        print_bug(error)
        return LadderEntry(case=spec.name, failure=f"{type(error).__name__}: {error}"), 2


def _climb(spec: CaseSpec, settings: "Settings", capture: Capture) -> "tuple[LadderEntry, int]":
    """Run all rungs of one case and report them; return its line of the index and the worst exit code.

    It is 2 where a rung failed, 1 where an expectation of the case does not hold on the rung of the default mode.
    """
    from compdiff.cli.console import print_ladder
    from compdiff.ladder.build import make_ladder
    from compdiff.report.ladder_outputs import LadderEntry, write_ladder

    found = _climb_all(spec, settings, capture)
    _print_failures([climbed.failure for climbed, _ in found])
    ladder = make_ladder(spec, [climbed for climbed, _ in found])
    page, html = write_ladder(ladder, settings.out / spec.name)
    print_ladder(page, html)
    return LadderEntry(case=spec.name, page=page), max(code for _, code in found)


def _climb_all(
    spec: CaseSpec, settings: "Settings", capture: Capture
) -> "Sequence[tuple[Climbed, int]]":
    """Run the rungs, each reported as soon as it is there, so that an end in between leaves what was measured."""

    def one(kind: RungKind) -> "tuple[Climbed, int]":
        climbed = _climbed(kind, spec, settings, capture)
        return climbed, _report(climbed, spec, settings)

    if settings.jobs == 1:
        return [one(kind) for kind in RUNGS]
    with ThreadPoolExecutor(settings.jobs) as pool:
        return list(pool.map(one, RUNGS))


def _climbed(kind: RungKind, spec: CaseSpec, settings: "Settings", capture: Capture) -> "Climbed":
    """Return the run of one rung; what the case expects is meant for the default mode, and left out elsewhere."""
    from compdiff.ladder.build import Climbed

    sampling = msgspec.structs.replace(settings.sampling, profiled_steps=_PROFILED_STEPS)
    own = replace(settings, options=options_of(kind, settings.options), sampling=sampling)
    try:
        run = capture(spec, own, kind.name)
    except CompdiffError as error:
        return Climbed(kind=kind, failure=error.message)
    if kind is not DEFAULT:
        run = msgspec.structs.replace(run, expectation=None)
    return Climbed(kind=kind, run=run)


def _print_failures(messages: Sequence[str]) -> None:
    """Print what left no run, with tracebacks, once where several rungs ended alike."""
    for message in dict.fromkeys(it for it in messages if it):
        print_error(CompdiffError(message))


def _report(climbed: "Climbed", spec: CaseSpec, settings: "Settings") -> int:
    """Write a rung's own report and return its exit code."""
    if climbed.run is None:
        return 2
    saved = save_run(climbed.run, settings.out / spec.name / climbed.kind.name)
    print_failure(climbed.run)
    for failure in saved.expectation_failures:
        print_error(CompdiffError(f"{spec.name}, {climbed.kind.name}: {failure}"))
    return saved.exit_code
