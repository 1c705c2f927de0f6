"""What `lock`, `check` and `bisect` share. In: options and the project's settings. Out: a Config; the runs of its cases."""

import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import click
import msgspec

from compdiff.case import survey
from compdiff.cli import print_error
from compdiff.cli.run import Settings, captured, choose_device, choose_target, terminate
from compdiff.errors import CompdiffError
from compdiff.model import CaseSpec, CompileOptions, Run, SamplingPlan
from compdiff.regression.config import Config, read_config
from compdiff.selection import matches, parse

_NS_PER_S = 1_000_000_000
_F = TypeVar("_F", bound=Callable[..., object])
_FILE = click.Path(path_type=Path, dir_okay=False)
_PATH = click.Path(path_type=Path, exists=True)
_OPTIONS = (
    click.argument("cases", nargs=-1),
    click.option(
        "--config", type=_FILE, help="Settings [compdiff.toml, or [tool:compdiff] in setup.cfg]."
    ),
    click.option("-k", "select", default=None, help="Cases whose name fits, as in `run`."),
    click.option("--device", default=None, help="auto, cpu, cuda or cuda:N."),
    click.option("--target", default=None, help="Plan for a GPU that need not be here."),
    click.option("--lock", default=None, help="The lock file [compdiff.lock]."),
    click.option("--runs", "runs", type=_PATH, help="Take these runs; measure nothing."),
    click.option(
        "--jobs", type=click.IntRange(min=1), default=1, help="Plan so many side by side."
    ),
)


def project_options(command: _F) -> _F:
    """Add the arguments and options that the commands share."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True)
class Captured:
    """The cases that ran, and the errors of those that could not be run, by name."""

    runs: tuple[Run, ...]
    errors: Mapping[str, CompdiffError]


def config_of(path: Path | None, **given: object) -> Config:
    """Return the project's settings with what the command line says in their place; None says nothing.

    Raises:
        CompdiffError: the settings cannot be read.
    """
    config = read_config(path)
    replaced = {name: value for name, value in given.items() if value is not None}
    if replaced.get("target"):
        replaced.setdefault("device", "auto")
    elif "device" in replaced:
        replaced["target"] = ""
    return msgspec.structs.replace(config, **replaced)


def settings_of(config: Config, jobs: int = 1) -> Settings:
    """Return how to run the cases of a project.

    Raises:
        CompdiffError: there is no such target or device.
    """
    target = choose_target(config.target, config.device)
    return Settings(
        device=choose_device(config.device) if target is None else "cuda",
        target=target,
        dtype=config.dtype,
        options=CompileOptions(
            backend=config.backend,
            mode=config.mode,
            dynamic=config.dynamic,
            fullgraph=config.fullgraph,
            options={**config.option},
        ),
        sampling=SamplingPlan(budget_ns=round(config.budget * _NS_PER_S)),
        seed=config.seed,
        timeout_s=config.timeout,
        out=Path(),
        jobs=jobs,
    )


def specs_of(config: Config, settings: Settings) -> tuple[CaseSpec, ...]:
    """Return the cases of a project.

    Raises:
        CompdiffError: it names none.
    """
    if not config.cases:
        raise CompdiffError(
            "no case is named", "Name cases, or set `cases` in compdiff.toml: see docs/ci.md."
        )
    found = survey(
        config.cases,
        device_type=settings.device.partition(":")[0],
        select=config.select,
        overrides=config.param,
    )
    if not found.cases:
        raise CompdiffError("no case is left", "Loosen -k, or choose another --device or --target.")
    return found.cases


def selected(runs: Sequence[Run], select: str) -> list[Run]:
    """Return the runs whose case fits `-k`."""
    expression = parse(select) if select else None
    return [run for run in runs if expression is None or matches(expression, run.case.name)]


def capture_all(specs: Sequence[CaseSpec], settings: Settings) -> Captured:
    """Run the cases, each in a child process; one that fails is an error of its own, printed at once."""
    from concurrent.futures import ThreadPoolExecutor

    signal.signal(signal.SIGTERM, terminate)
    runs: list[Run] = []
    errors: dict[str, CompdiffError] = {}
    jobs = settings.jobs if settings.target is not None else 1
    with ThreadPoolExecutor(jobs) as pool:
        waiting = [(spec, pool.submit(captured, spec, settings, _quiet)) for spec in specs]
        for spec, future in waiting:
            error = future.exception()
            if error is None:
                runs.append(future.result())
            elif isinstance(error, CompdiffError):
                print_error(error)
                errors[spec.name] = error
            else:
                raise error
    return Captured(tuple(runs), errors)


def _quiet(_: str) -> None:
    """Show no stage: several cases run side by side."""
