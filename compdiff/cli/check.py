"""`compdiff check`: fail a build when a case is no longer what it was."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from compdiff.cli.gate import (
    Captured,
    capture_all,
    config_of,
    project_options,
    selected,
    settings_of,
    specs_of,
)
from compdiff.errors import CompdiffError
from compdiff.model import Run
from compdiff.regression.config import Config
from compdiff.store import write_atomic

if TYPE_CHECKING:
    from compdiff.regression.check import Result
    from compdiff.regression.lock import Lock

_FILE = click.Path(path_type=Path, dir_okay=False)
_FOLDER = click.Path(path_type=Path, file_okay=False)


@dataclass(frozen=True, kw_only=True)
class _Source:
    """Where the runs of one check come from; `again` runs a case once more, where cases are run at all."""

    captured: Captured
    again: Callable[[str], Run | None]


@dataclass(frozen=True, kw_only=True)
class _Judged:
    """The results in order of case, the runs that they rest on and those compared with, by case and place."""

    results: "Sequence[Result]"
    taken: Mapping[tuple[str, str], Sequence[Run]]
    known: Mapping[tuple[str, str], Sequence[Run]]


@click.command(name="check")
@project_options
@click.option(
    "--baseline", default=None, help="A run file, a folder of runs, or one of the archive."
)
@click.option("--archive", default=None, help="The archive that holds the baseline.")
@click.option("--junit", type=_FILE, help="Write JUnit XML there.")
@click.option("--sarif", type=_FILE, help="Write SARIF 2.1.0 there.")
@click.option("--markdown", type=_FILE, help="Write a comment for a pull request there.")
@click.option("--out", type=_FOLDER, help="Keep the runs there, with their reports.")
@click.option("--update-baseline", is_flag=True, help="Accept what is found; needs --why.")
@click.option("--why", default="", help="Why the change is right; it stands in the lock.")
def command(  # noqa: PLR0913 - one for each option
    *,
    cases: tuple[str, ...],
    config: Path | None,
    select: str | None,
    device: str | None,
    target: str | None,
    lock: str | None,
    runs: Path | None,
    jobs: int,
    baseline: str | None,
    archive: str | None,
    junit: Path | None,
    sarif: Path | None,
    markdown: Path | None,
    out: Path | None,
    update_baseline: bool,
    why: str,
) -> int:
    """Check CASES against compdiff.lock and the baseline: exit code 1 when one is no longer what it was.

    Rewrites, op calls, kernels, graph breaks, recompiles and copies are compared exactly; time, memory and numerics
    against runs of the baseline. CASES default to those of the settings.
    """
    if update_baseline and not why.strip():
        raise CompdiffError(
            "--update-baseline without a reason", 'Say why: --why "fused on purpose".'
        )
    asked = config_of(
        config,
        cases=list(cases) or None,
        select=select,
        device=device,
        target=target,
        lock=lock,
        baseline=baseline,
        archive=archive,
    )
    source = _from_files(runs, asked) if runs is not None else _from_running(asked, jobs)
    judged = _judged(source, asked, whole=not cases and not select and runs is None)
    results, taken = judged.results, judged.taken
    _write(results, {"junit": junit, "sarif": sarif, "markdown": markdown})
    if out is not None:
        _report(taken, out)
    from compdiff.regression.outputs import exit_code, table

    click.echo(table(results))
    if update_baseline:
        return _accepted(judged, asked, why)
    return exit_code(results)


# ---------------------------------------------------------------- runs


def _from_files(path: Path, config: Config) -> _Source:
    from compdiff.regression.runs import read_runs

    runs = tuple(selected(read_runs(path), config.select))
    if not runs:
        raise CompdiffError(f"no run below {path} fits -k {config.select!r}", "Loosen -k.")
    return _Source(captured=Captured(runs, {}), again=lambda _: None)


def _from_running(config: Config, jobs: int) -> _Source:
    settings = settings_of(config, jobs)
    specs = specs_of(config, settings)
    by_name = {spec.name: spec for spec in specs}

    def again(case: str) -> Run | None:
        if settings.target is not None:
            return None
        return next(iter(capture_all([by_name[case]], settings).runs), None)

    return _Source(captured=capture_all(specs, settings), again=again)


# ---------------------------------------------------------------- judging


def _judged(source: _Source, config: Config, *, whole: bool) -> _Judged:
    """Return what is found; `whole` says that every case of the lock is due."""
    from compdiff.regression.check import Problem, Result, without_runs
    from compdiff.regression.lock import read_lock
    from compdiff.regression.runs import by_key

    lock = read_lock(Path(config.lock))
    taken = {key: list(found) for key, found in by_key(source.captured.runs).items()}
    known = baseline_runs(config, list(taken))
    if not lock and not known:
        raise CompdiffError(
            f"there is nothing to check against: no {config.lock}, and no baseline",
            "`compdiff lock` writes the lock; commit it.",
        )
    results = [_confirmed(key, found, lock, known, source, config) for key, found in taken.items()]
    results += [
        Result(name, status="error", problems=(Problem("run", "failed", name, error.message),))
        for name, error in source.captured.errors.items()
    ]
    results += without_runs(lock, results) if whole else []
    results.sort(key=lambda one: (one.case, one.where))
    return _Judged(results=results, taken=taken, known=known)


def _confirmed(  # noqa: PLR0913, PLR0917 - what a case is judged by
    key: tuple[str, str],
    runs: list[Run],
    lock: "Lock",
    known: Mapping[tuple[str, str], Sequence[Run]],
    source: _Source,
    config: Config,
) -> "Result":
    """Return the result of a case; one that seems slower is run again, since a process can be slow as a whole."""
    from compdiff.regression.check import Given, check_case

    def result() -> "Result":
        return check_case(Given(runs, known.get(key, ()), lock.get(key)), config)

    first = result()
    if first.time is None or first.time.verdict != "slower":
        return first
    more = [run for _ in range(config.confirm) if (run := source.again(key[0])) is not None]
    runs += more
    return result() if more else first


def baseline_runs(
    config: Config, keys: Sequence[tuple[str, str]]
) -> Mapping[tuple[str, str], Sequence[Run]]:
    """Return the runs to compare with, by case and place; none where the settings name no baseline.

    Raises:
        CompdiffError: the baseline is neither a file nor a folder, and there is no archive.
    """
    from compdiff.regression.runs import by_key, read_runs

    if not config.baseline and not config.archive:
        return {}
    if config.baseline and Path(config.baseline).exists():
        return by_key(read_runs(Path(config.baseline)))
    if not config.archive:
        raise CompdiffError(
            f"the baseline {config.baseline!r} is no file or folder, and no archive is named",
            "Set `archive`, or give a folder of runs.",
        )
    from compdiff.cli.baseline import from_archive

    return from_archive(config, keys)


# ---------------------------------------------------------------- what it leaves


def _write(results: "Sequence[Result]", files: Mapping[str, Path | None]) -> None:
    from compdiff.regression import outputs

    made = {
        "junit": lambda: outputs.junit(results),
        "sarif": lambda: outputs.sarif(results, Path.cwd()),
        "markdown": lambda: outputs.markdown(results).encode(),
    }
    for name, path in files.items():
        if path is not None:
            write_atomic(path, made[name]())


def _report(taken: Mapping[tuple[str, str], Sequence[Run]], out: Path) -> None:
    """Save the runs and their reports: the next check can take them as its baseline."""
    from compdiff.analysis import analyse
    from compdiff.cli.outcome import RUN_FILE
    from compdiff.report import write_outputs
    from compdiff.store import write_run

    for (case, _), runs in taken.items():
        write_run(runs[0], out / case / RUN_FILE)
        write_outputs(runs[0], analyse(runs[0]), out / case)


def _accepted(judged: _Judged, config: Config, why: str) -> int:
    """Write what was found into the lock, and into the archive where there is one; 2 where a case could not be run.

    A case that passes goes into the archive too where that has no run of it to compare with.
    """
    from compdiff.regression.lock import merged, read_lock, write_lock
    from compdiff.regression.structure import one_line
    from compdiff.regression.who import who

    path, by = Path(config.lock), who(Path.cwd())
    whole = [one for one in judged.results if one.stanza is not None]
    changed = [one for one in whole if one.status == "failed"]
    said = f"{one_line(why)} ({by})"
    stanzas = [replace(one.stanza, accepted=said) for one in changed if one.stanza is not None]
    write_lock(path, merged(read_lock(path), stanzas))
    click.echo(f"accepted in {path}: {', '.join(one.case for one in changed) or 'nothing changed'}")
    if config.archive:
        from compdiff.cli.baseline import accept

        new = [one for one in whole if one in changed or (one.case, one.where) not in judged.known]
        for one in new:
            accept(config.archive, judged.taken[one.case, one.where], by=by, why=one_line(why))
        click.echo(f"pinned in {config.archive}: {', '.join(one.case for one in new) or 'nothing'}")
    return 2 if any(one.status == "error" for one in judged.results) else 0
