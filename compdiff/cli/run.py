"""`compdiff run`: measure cases, explain, write the reports."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from compdiff.capture.isolation import run_isolated
from compdiff.case import Survey, survey
from compdiff.cli import print_error
from compdiff.cli.values import parse_value
from compdiff.errors import CompdiffError
from compdiff.model import CaseSpec, CompileOptions, Request, Run, SamplingPlan
from compdiff.store import write_run

if TYPE_CHECKING:
    from compdiff.report import IndexEntry

RUN_FILE = "run.json.gz"
_MODES = ["default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"]


@dataclass(frozen=True)
class Settings:
    """What all cases of one call share."""

    device: str
    dtype: str
    options: CompileOptions
    sampling: SamplingPlan
    seed: int
    timeout_s: float
    out: Path


def _pairs(_: click.Context, option: click.Parameter, values: tuple[str, ...]) -> dict[str, object]:
    """Turn `key=value` texts into a dict; values are read as Python literals where they are."""
    pairs = [value.partition("=") for value in values]
    wrong = [key for key, sign, _ in pairs if not sign or not key]
    if wrong:
        message = f"{wrong[0]!r} is not key=value"
        raise click.BadParameter(message, param=option)
    return {key: parse_value(text) for key, _, text in pairs}


@click.command(name="run")
@click.argument("cases", nargs=-1, required=True)
@click.option("-k", "select", default="", help="Only cases whose name fits: substrings with and, or, not.")
@click.option("--param", "params", multiple=True, callback=_pairs, help="Override an input parameter: size=4096.")
@click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda or cuda:N.")
@click.option("--dtype", default="", help="Floating dtype of the inputs [float32 on cpu, bfloat16 on cuda].")
@click.option("--mode", type=click.Choice(_MODES), help="torch.compile's mode.")
@click.option("--dynamic/--no-dynamic", default=None, help="torch.compile's dynamic.")
@click.option("--fullgraph", is_flag=True, help="torch.compile's fullgraph.")
@click.option("--backend", default="inductor", show_default=True, help="torch.compile's backend.")
@click.option("--option", "options", multiple=True, callback=_pairs, help="An Inductor option: freezing=True.")
@click.option("--inputs", "inputs_ref", default="", help="For package.module:function: what makes its inputs.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), default="compdiff-out", show_default=True)
@click.option("--timeout", "timeout_s", default=600.0, show_default=True, help="Seconds for one case.")
@click.option("--use-cache", is_flag=True, help="Use the compile caches: faster, but a hit hides the pass log.")
@click.option("--seed", default=0, show_default=True)
@click.option("--budget", "budget_s", default=1.0, show_default=True, help="Seconds of timing samples for one case.")
def command(
    cases: tuple[str, ...],
    select: str,
    params: dict[str, object],
    device: str,
    inputs_ref: str,
    **rest: object,
) -> int:
    """Measure CASES in eager mode and under torch.compile, and show what was rewritten.

    CASES are files, folders, globs, or package.module:function with --inputs.
    """
    chosen = choose_device(device)
    settings = _settings(chosen, rest)
    found = survey(
        cases,
        device_type=chosen.partition(":")[0],
        select=select,
        overrides=params,  # type: ignore[arg-type] - checked by parse_value
        inputs_ref=inputs_ref,
    )
    return run_cases(found, settings)


def run_cases(found: Survey, settings: Settings) -> int:
    """Run all cases; return 0, 1 when an expectation failed, 2 when a case could not be measured."""
    from compdiff.report import write_index

    for reason in found.skipped:
        click.echo(f"skipped {reason.name}: {reason.reason}", err=True)
    results = [run_case(spec, settings) for spec in found.cases]
    if len(results) > 1:
        index = write_index(settings.out, [entry for entry, _ in results])
        click.echo(f"All reports: {index}")
    return max(code for _, code in results)


def run_case(spec: CaseSpec, settings: Settings) -> "tuple[IndexEntry, int]":
    """Measure, explain and report one case; return its line of the index and its exit code."""
    from compdiff.report import IndexEntry

    try:
        with _progress(spec.name) as on_stage:
            run = run_isolated(_request(spec, settings), timeout_s=settings.timeout_s, on_stage=on_stage)
        return report_run(run, settings.out / spec.name)
    except CompdiffError as error:
        print_error(error)
        return IndexEntry(case=spec.name, failure=error.message), error.exit_code


def report_run(run: Run, folder: Path) -> "tuple[IndexEntry, int]":
    """Save a run and write what is derived from it; print the summary; return (line of the index, exit code)."""
    from compdiff.analysis import analyse
    from compdiff.cli.console import print_summary
    from compdiff.expect import judge
    from compdiff.report import IndexEntry, write_outputs

    write_run(run, folder / RUN_FILE)
    diff = analyse(run)
    failures = judge(run.expectation, run, diff) if run.failure is None else ()
    outputs = write_outputs(run, diff, folder, expectation_failures=failures)
    print_summary(outputs)
    if run.failure is not None:
        click.echo(f"Error: {run.case.name}: {run.failure.message}\n{run.failure.traceback}".rstrip(), err=True)
    code = 2 if run.failure is not None else int(bool(failures))
    return IndexEntry(case=run.case.name, outputs=outputs), code


def choose_device(asked: str) -> str:
    """Return `cpu`, `cuda` or `cuda:N`; auto is cuda where the system shows an NVIDIA or AMD GPU.

    Raises:
        CompdiffError: the name is none of these.
    """
    if asked == "auto":
        shown = Path("/dev/nvidia0").exists() or Path("/dev/kfd").exists()
        return "cuda" if shown and os.environ.get("CUDA_VISIBLE_DEVICES", "0") not in {"", "-1"} else "cpu"
    kind, _, number = asked.partition(":")
    if kind == "cpu" and not number or kind == "cuda" and (not number or number.isdigit()):
        return asked
    message = f"--device {asked!r}: unknown device"
    raise CompdiffError(message, "Use auto, cpu, cuda or cuda:N.")


def _settings(device: str, rest: dict[str, object]) -> Settings:
    options = CompileOptions(
        backend=str(rest["backend"]),
        mode=rest["mode"],  # type: ignore[arg-type] - click has checked the choice
        dynamic=rest["dynamic"],  # type: ignore[arg-type]
        fullgraph=bool(rest["fullgraph"]),
        options=rest["options"],  # type: ignore[arg-type]
        use_cache=bool(rest["use_cache"]),
    )
    return Settings(
        device=device,
        dtype=str(rest["dtype"]),
        options=options,
        sampling=SamplingPlan(budget_ns=int(float(str(rest["budget_s"])) * 1e9)),
        seed=int(str(rest["seed"])),
        timeout_s=float(str(rest["timeout_s"])),
        out=Path(str(rest["out"])),
    )


def _request(spec: CaseSpec, settings: Settings) -> Request:
    return Request(
        spec=spec,
        device=settings.device,
        dtype=settings.dtype,
        options=settings.options,
        sampling=settings.sampling,
        seed=settings.seed,
    )


@contextmanager
def _progress(case: str) -> Iterator[Callable[[str], None]]:
    """Show the running stage on stderr while a case is measured; nothing where stderr is no terminal."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda stage: None
        return
    with console.status(f"{case}: start") as status:
        yield lambda stage: status.update(f"{case}: {stage}")
