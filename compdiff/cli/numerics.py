"""`compdiff numerics`: say why the outputs of a compiled case differ from eager mode's."""

from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from compdiff.case import find
from compdiff.cli.run import choose_device
from compdiff.errors import CaptureError, CompdiffError
from compdiff.model import CaseSpec, CompileOptions, OutputCheck, Request
from compdiff.precision.switches import LAYERS, SWITCHES, Switch
from compdiff.precision.verdict import Attempt, Explanation, attempt_of, explain, failed_attempt
from compdiff.store import write_atomic

if TYPE_CHECKING:
    from rich.table import Table

_COMPARE = "compdiff.capture.compared:compare_outputs"
_FILE = click.Path(path_type=Path, dir_okay=False)
_NOT_NEGATIVE = click.FloatRange(min=0)


@click.command(name="numerics")
@click.argument("case")
@click.option(
    "-k", "select", default="", help="The case whose name fits, where the file has several."
)
@click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda or cuda:N.")
@click.option("--dtype", default="", help="Dtype of the inputs [that of the case].")
@click.option("--rtol", type=_NOT_NEGATIVE, help="Relative tolerance, with --atol.")
@click.option("--atol", type=_NOT_NEGATIVE, help="Absolute tolerance, with --rtol.")
@click.option("--json", "json_file", type=_FILE, help="Write all of it as JSON too.")
@click.option("--seed", default=0, show_default=True, help="Seed of Python and torch.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=600.0,
    show_default=True,
    help="Seconds for each way to compile.",
)
def command(  # noqa: PLR0913 - one for each option
    *,
    case: str,
    select: str,
    device: str,
    dtype: str,
    rtol: float | None,
    atol: float | None,
    json_file: Path | None,
    seed: int,
    timeout: float,
) -> int:
    """Compare the outputs of CASE with eager mode's; where they differ, find the switch that closes the gap.

    Exit codes: 0 they agree or a switch explains why not, 1 they differ unexplained, 2 error.
    """
    if (rtol is None) != (atol is None):
        raise CompdiffError("--rtol and --atol go together", "Give both, or none.")
    chosen = choose_device(device)
    request = Request(
        spec=_only(case, chosen.partition(":")[0], select),
        device=chosen,
        dtype=dtype,
        options=CompileOptions(),
        seed=seed,
        check=OutputCheck(rtol=rtol, atol=atol),
    )
    found = _explained(request, timeout)
    if json_file is not None:
        encoded = msgspec.json.encode(found)
        write_atomic(json_file, msgspec.json.format(encoded, indent=2) + b"\n")
    _print(found)
    return found.exit_code


def _only(case: str, kind: str, select: str) -> CaseSpec:
    specs = find([case], device_type=kind, select=select or None)
    if len(specs) != 1:
        names = ", ".join(spec.name for spec in specs) or "none"
        message = f"{case} names {len(specs)} cases for this device, and one is explained at a time"
        raise CompdiffError(message, f"Choose one with -k. Found: {names}.")
    return specs[0]


def _explained(request: Request, timeout_s: float) -> Explanation:
    return explain(
        list(_attempts(request, timeout_s)),
        case=request.spec.name,
        device=request.device,
        torch=version("torch"),
    )


def _attempts(request: Request, timeout_s: float) -> Iterator[Attempt]:
    """Yield the case as asked, and then, if it differs, each switch that can change anything on this device."""
    first = _attempt(request, None, timeout_s)
    yield first
    if first.outcome != "differs":
        return
    kind = request.device.partition(":")[0]
    for switch in (*LAYERS, *SWITCHES):
        if kind in switch.devices:
            yield _attempt(request, switch, timeout_s)


def _attempt(request: Request, switch: Switch | None, timeout_s: float) -> Attempt:
    """Compile and compare in a child process of its own."""
    from compdiff.capture.isolation import run_isolated

    changed = request if switch is None else switched(request, switch)
    click.echo(f"{request.spec.name}: {'as asked' if switch is None else switch.name}", err=True)
    try:
        run = run_isolated(changed, timeout_s=timeout_s, on_stage=lambda _: None, measure=_COMPARE)
    except CaptureError as error:
        if switch is None:
            raise
        return failed_attempt(switch, error.message.partition("\n")[0])
    return attempt_of(run, switch)


def switched(request: Request, switch: Switch) -> Request:
    """Return the request with one switch set; a layer that is not Inductor gets no mode of Inductor."""
    check = msgspec.structs.replace(
        request.check or OutputCheck(),
        options=switch.options,
        full_float32=switch.full_float32,
    )
    options = request.options
    if switch.kind == "layer":
        options = msgspec.structs.replace(options, backend=switch.backend, mode="default")
    return msgspec.structs.replace(request, options=options, check=check)


# ---------------------------------------------------------------- the terminal


def _print(found: Explanation) -> None:
    from compdiff.cli.console import console

    shown = console()
    shown.print(_table(found.attempts))
    shown.print(found.verdict, markup=False)


def _table(attempts: Sequence[Attempt]) -> "Table":
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for name in ("compiled", "outputs", "largest difference", "note"):
        table.add_column(name)
    for it in attempts:
        row = (it.name, it.outcome, _difference(it), it.note)
        table.add_row(*(escape(cell) for cell in row))
    return table


def _difference(attempt: Attempt) -> str:
    between = attempt.numerics.between if attempt.numerics else None
    return f"{between.max_abs:.3g}" if between else ""
