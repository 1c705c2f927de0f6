"""`compdiff targets`: list the GPUs that a case can be planned for without having one."""

import click
import msgspec

from compdiff.model import Target
from compdiff.targets import TARGETS, find_target

_GB = 1_000_000_000
_RATES = ("float32", "tf32", "bfloat16", "float16", "float8_e4m3fn", "int8")
_HEAD = ("name", "sm", "SMs", "MHz", "GB", "GB/s", *(f"{rate} TF/s" for rate in _RATES))


@click.command(name="targets")
@click.argument("names", nargs=-1)
@click.option(
    "--json", "as_json", is_flag=True, help="Print as JSON, as --target FILE.json reads it."
)
@click.option("--sources", is_flag=True, help="Say where each figure is from.")
def command(names: tuple[str, ...], *, as_json: bool, sources: bool) -> int:
    """List the GPUs that `compdiff run --target` knows, or those of NAMES. Rates are dense."""
    targets = [find_target(name) for name in names] or list(TARGETS.values())
    if as_json:
        for target in targets:
            click.echo(msgspec.json.format(msgspec.json.encode(target), indent=2).decode())
        return 0
    for line in _table(targets):
        click.echo(line)
    if sources:
        for target in targets:
            click.echo(f"\n{target.name}: {target.title}")
            for source in target.sources:
                click.echo(f"  {source}")
    return 0


def _table(targets: list[Target]) -> list[str]:
    rows = [_HEAD, *(_row(target) for target in targets)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
    return [
        "  ".join(
            f"{cell:<{width}}" if column == 0 else f"{cell:>{width}}"
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _row(target: Target) -> tuple[str, ...]:
    rates = (target.peak_tflops.get(rate) for rate in _RATES)
    return (
        target.name,
        f"{target.capability[0]}.{target.capability[1]}",
        str(target.multiprocessors),
        str(target.clock_mhz),
        str(round(target.memory_bytes / _GB)),
        f"{target.memory_gb_per_s:g}",
        *("-" if rate is None else f"{rate:g}" for rate in rates),
    )
