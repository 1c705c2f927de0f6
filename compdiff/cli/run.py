"""`compdiff run`: measure cases, explain, write the reports."""

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import click

from compdiff.case import Survey, survey
from compdiff.cli import print_bug, print_error
from compdiff.cli.formats import DEFAULT_FORMAT, format_option
from compdiff.cli.outcome import report_run
from compdiff.cli.rule_name import why_not_option
from compdiff.cli.values import Value, parse_value
from compdiff.errors import CaseError, CompdiffError
from compdiff.model import CaseSpec, CompileOptions, Request, Run, SamplingPlan, Target
from compdiff.targets import find_target

if TYPE_CHECKING:
    from compdiff.report import IndexEntry

_MODES = ["default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"]
_DTYPES = ["float32", "float64", "float16", "bfloat16"]
_NS_PER_S = 1_000_000_000
_TERMINATED = 128 + signal.SIGTERM
_FOLDER = click.Path(path_type=Path, file_okay=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What all cases of one call share."""

    device: str
    target: Target | None = None
    dtype: str
    options: CompileOptions
    sampling: SamplingPlan
    seed: int
    timeout_s: float
    out: Path
    jobs: int = 1
    why_not: str = ""
    ladder: bool = False
    form: str = DEFAULT_FORMAT


def _pairs(_: click.Context, option: click.Parameter, values: tuple[str, ...]) -> dict[str, Value]:
    """Turn `key=value` texts into a dict; values are read as Python literals where they are."""
    pairs = [value.partition("=") for value in values]
    wrong = [key for key, sign, _ in pairs if not sign or not key]
    if wrong:
        message = f"{wrong[0]!r} is not key=value"
        raise click.BadParameter(message, param=option)
    return {key: parse_value(text) for key, _, text in pairs}


@click.command(name="run")
@click.argument("cases", nargs=-1, required=True)
@click.option("-k", "select", default="", help="Cases whose name fits: substrings, and, or, not.")
@click.option(
    "--param", "params", multiple=True, callback=_pairs, help="Set a parameter: size=4096."
)
@click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda or cuda:N.")
@click.option(
    "--target",
    "target_name",
    default="",
    help="Plan for a GPU that need not be here: a name of `compdiff targets`, or a JSON file.",
)
@click.option(
    "--dtype", default="", help=f"Dtype of the inputs, such as {_DTYPES[0]} [that of the case]."
)
@click.option("--mode", type=click.Choice(_MODES), help="torch.compile's mode.")
@click.option("--dynamic/--no-dynamic", default=None, help="torch.compile's dynamic.")
@click.option("--fullgraph", is_flag=True, help="torch.compile's fullgraph.")
@click.option("--backend", default="inductor", show_default=True, help="torch.compile's backend.")
@click.option(
    "--option", "options", multiple=True, callback=_pairs, help="Inductor option: freezing=True."
)
@click.option("--inputs", "inputs_ref", default="", help="Makes the inputs of pkg.module:function.")
@click.option("--out", type=_FOLDER, default="compdiff-out", show_default=True, help="Folder.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=600.0,
    show_default=True,
    help="Seconds for one case.",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Plan that many cases side by side; only with --target.",
)
@click.option(
    "--ladder",
    is_flag=True,
    help="Each case as eager, aot_eager, default, reduce-overhead and max-autotune, compared.",
)
@click.option(
    "--use-cache", is_flag=True, help="Use the compile caches: faster, but a hit hides the passes."
)
@click.option("--seed", default=0, show_default=True, help="Seed of Python and torch.")
@click.option(
    "--budget",
    type=click.FloatRange(min=0),
    default=1.0,
    show_default=True,
    help="Seconds of timing samples for one case.",
)
@why_not_option
@format_option
def command(  # noqa: PLR0913 - one for each option
    *,
    cases: tuple[str, ...],
    select: str,
    params: dict[str, Value],
    device: str,
    target_name: str,
    dtype: str,
    mode: str | None,
    dynamic: bool | None,
    fullgraph: bool,
    backend: str,
    options: dict[str, Value],
    inputs_ref: str,
    out: Path,
    timeout: float,
    jobs: int,
    ladder: bool,
    use_cache: bool,
    seed: int,
    budget: float,
    why_not: str,
    form: str,
) -> int:
    """Measure CASES in eager mode and under torch.compile, and show what was rewritten.

    With --target they are planned for a GPU that need not be here: nothing is measured.

    CASES are files, folders, globs, or package.module:function with --inputs.
    """
    signal.signal(signal.SIGTERM, terminate)
    target = choose_target(target_name, device)
    if jobs > 1 and target is None:
        raise CompdiffError(
            "--jobs would let the cases disturb each other's measurement", "Use it with --target."
        )
    if ladder and form != DEFAULT_FORMAT:
        raise CompdiffError(
            "--format prints one run, and --ladder makes several", "Each rung leaves its own files."
        )
    settings = Settings(
        device=choose_device(device) if target is None else "cuda",
        target=target,
        dtype=dtype,
        options=CompileOptions(
            backend=backend,
            mode=mode,
            dynamic=dynamic,
            fullgraph=fullgraph,
            options=dict(options),
            use_cache=use_cache,
        ),
        sampling=SamplingPlan(budget_ns=round(budget * _NS_PER_S)),
        seed=seed,
        timeout_s=timeout,
        out=out,
        jobs=jobs,
        why_not=why_not,
        ladder=ladder,
        form=form,
    )
    kind = settings.device.partition(":")[0]
    found = survey(cases, device_type=kind, select=select, overrides=params, inputs_ref=inputs_ref)
    return run_cases(found, settings)


def run_cases(found: Survey, settings: Settings) -> int:
    """Run all cases; return 0, 1 when an expectation failed, 2 when a case was not measured.

    Raises:
        CaseError: there is no case to run.
        CompdiffError: the format is for one case, and there are several.
    """
    from compdiff.report import write_index

    for one in found.skipped:
        click.echo(f"skipped {one.name}: {one.reason}", err=True)
    if not found.cases:
        raise CaseError(
            "no case is left to run", "Loosen -k, or choose another --device; see `compdiff cases`."
        )
    if settings.form == "html" and len(found.cases) > 1:
        raise CompdiffError(
            f"--format html prints one page, and there are {len(found.cases)} cases",
            "Name one of them, or read the files in --out.",
        )
    if settings.ladder:
        from compdiff.cli.ladder import climb_all

        return climb_all(found.cases, settings, capture_rung)
    results = _run_all(found.cases, settings)
    if len(results) > 1:
        index = write_index(settings.out, [entry for entry, _ in results])
        # What scripts read from stdout has no such line.
        click.echo(f"All reports: {index}", err=settings.form != DEFAULT_FORMAT)
    return max(code for _, code in results)


def _run_all(specs: Sequence[CaseSpec], settings: Settings) -> "list[tuple[IndexEntry, int]]":
    """Run the cases, `jobs` of them at a time; what they show comes in their order in any case."""
    if settings.jobs == 1:
        return [run_case(spec, settings) for spec in specs]
    with ThreadPoolExecutor(settings.jobs) as pool:
        runs = [pool.submit(captured, spec, settings, _ignore) for spec in specs]
        return [
            _reported(spec, settings, run.result) for spec, run in zip(specs, runs, strict=True)
        ]


def run_case(spec: CaseSpec, settings: Settings) -> "tuple[IndexEntry, int]":
    """Measure or plan, explain and report one case; return its line of the index and its exit code."""

    def capture() -> Run:
        with _progress(spec.name) as on_stage:
            return captured(spec, settings, on_stage)

    return _reported(spec, settings, capture)


def _reported(
    spec: CaseSpec, settings: Settings, capture: Callable[[], Run]
) -> "tuple[IndexEntry, int]":
    """Report what `capture` gives, or the error that it ends in."""
    from compdiff.report import IndexEntry

    try:
        return report_run(
            capture(),
            settings.out / spec.name,
            why_not=settings.why_not,
            form=settings.form,
        )
    except CompdiffError as error:
        print_error(error)
        return IndexEntry(case=spec.name, failure=error.message), error.exit_code
    except Exception as error:  # noqa: BLE001 - a bug that one case brings to light leaves the others their reports
        print_bug(error)
        return IndexEntry(case=spec.name, failure=f"{type(error).__name__}: {error}"), 2


def capture_rung(spec: CaseSpec, settings: Settings, rung: str) -> Run:
    """Return the run of one case on one rung of its ladder."""
    if settings.jobs > 1:
        return captured(spec, settings, _ignore)
    with _progress(f"{spec.name}, {rung}") as on_stage:
        return captured(spec, settings, on_stage)


def captured(spec: CaseSpec, settings: Settings, on_stage: Callable[[str], None]) -> Run:
    """Return the run of one case, measured or planned in a child process."""
    from compdiff.capture.isolation import run_isolated

    request = Request(
        spec=spec,
        device=settings.device,
        target=settings.target,
        dtype=settings.dtype,
        options=settings.options,
        sampling=settings.sampling,
        seed=settings.seed,
    )
    return run_isolated(request, timeout_s=settings.timeout_s, on_stage=on_stage)


def choose_target(name: str, device: str) -> Target | None:
    """Return the GPU to plan for, None where the case is to be measured.

    Raises:
        CompdiffError: there is no such target, or a device was named too.
    """
    if not name:
        return None
    if device not in {"auto", "cuda"}:
        message = f"--target {name} plans for a GPU, and --device {device} measures"
        raise CompdiffError(message, "Give one of the two.")
    return find_target(name)


def choose_device(asked: str) -> str:
    """Return `cpu`, `cuda` or `cuda:N`; auto is cuda where torch can use one.

    Raises:
        CompdiffError: the name is none of these.
    """
    if asked == "auto":
        return "cuda" if _gpu_shown() and _cuda_usable() else "cpu"
    kind, colon, number = asked.partition(":")
    if asked == "cpu" or (kind == "cuda" and (number.isdecimal() or not colon)):
        return asked
    message = f"--device {asked!r}: unknown device"
    raise CompdiffError(message, "Use auto, cpu, cuda or cuda:N.")


def _gpu_shown() -> bool:
    """Whether the system shows an NVIDIA or AMD GPU: asking torch costs a second."""
    return any(Path(device).exists() for device in ("/dev/nvidia0", "/dev/nvidiactl", "/dev/kfd"))


def _cuda_usable() -> bool:
    from compdiff.capture.isolation import cuda_usable

    return os.environ.get("CUDA_VISIBLE_DEVICES") not in {"", "-1"} and cuda_usable()


def terminate(_: int, __: FrameType | None) -> None:
    """End as Ctrl-C does, so that the child and the temporary files go too."""
    sys.exit(_TERMINATED)


@contextmanager
def _progress(case: str) -> Iterator[Callable[[str], None]]:
    """Show the stage on stderr while a case is measured; nothing where stderr is no terminal."""
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _ignore
        return
    with console.status(Text(f"{case}: start")) as status:
        yield lambda stage: status.update(Text(f"{case}: {stage}"))


def _ignore(_: str) -> None:
    """Show nothing."""
