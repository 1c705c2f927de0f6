"""`compdiff lock`: write down what torch.compile makes of each case."""

from pathlib import Path

import click

from compdiff.cli.gate import (
    capture_all,
    config_of,
    project_options,
    selected,
    settings_of,
    specs_of,
)


@click.command(name="lock")
@project_options
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
) -> int:
    """Write what torch.compile makes of CASES into compdiff.lock, for `compdiff check` and for review.

    Stanzas of other cases and targets in the file stay. CASES default to those of the settings.
    """
    from compdiff.regression.lock import merged, read_lock, write_lock
    from compdiff.regression.runs import read_runs
    from compdiff.regression.structure import stanza_of

    asked = config_of(
        config, cases=list(cases) or None, select=select, device=device, target=target, lock=lock
    )
    if runs is not None:
        taken, errors = tuple(selected(read_runs(runs), asked.select)), 0
    else:
        settings = settings_of(asked, jobs)
        found = capture_all(specs_of(asked, settings), settings)
        taken, errors = found.runs, len(found.errors)
    path = Path(asked.lock)
    whole = [run for run in taken if run.failure is None]
    write_lock(path, merged(read_lock(path), (stanza_of(run) for run in whole)))
    click.echo(f"{path}: {len(whole)} case{'' if len(whole) == 1 else 's'} written")
    for run in taken:
        if run.failure is not None:
            click.echo(f"not locked: {run.case.name} ended in {run.failure.stage}", err=True)
    return 2 if errors or len(whole) < len(taken) else 0
