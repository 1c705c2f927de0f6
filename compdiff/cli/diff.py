"""`compdiff diff`: compare any two sides of any two runs."""

from pathlib import Path

import click

from compdiff.cli.formats import format_option, print_outputs
from compdiff.model import Run, Side
from compdiff.store import read_run

_SIDES: tuple[Side, ...] = ("left", "right")


@click.command(name="diff")
@click.argument("a")
@click.argument("b")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default="compdiff-out",
    show_default=True,
    help="Folder.",
)
@format_option
def command(a: str, b: str, out: Path, form: str) -> int:
    """Compare two sides of two runs, or of one.

    A and B are each RUN_FILE, RUN_FILE:left (eager) or RUN_FILE:right (compiled, the default), where RUN_FILE
    is a run.json.gz or the folder with it. Shows
    what became of A's op calls and kernels in B, which rewrites, graph breaks and recompiles were
    gained or lost, and what differs in environment, options and parameters.
    """
    from compdiff.analysis import compare
    from compdiff.report import write_outputs

    run, diff = compare(*parse_side(a), *parse_side(b))
    print_outputs(write_outputs(run, diff, out / run.case.name), form)
    return 0


def parse_side(text: str) -> tuple[Run, Side]:
    """Return (run, side) of `file`, `file:left` or `file:right`."""
    for side in _SIDES:
        if text.endswith(f":{side}"):
            return read_run(Path(text.removesuffix(f":{side}"))), side
    return read_run(Path(text)), "right"
