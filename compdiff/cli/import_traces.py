"""`compdiff import`: compare profiler traces that were recorded elsewhere."""

from pathlib import Path

import click

from compdiff.cli.formats import format_option
from compdiff.errors import CompdiffError


@click.command(name="import")
@click.argument("eager", type=click.Path(path_type=Path))
@click.argument("compiled", type=click.Path(path_type=Path), required=False)
@click.option("--step", type=int, help="Read this profiler step [the median steady one].")
@click.option(
    "--between",
    nargs=2,
    metavar="A B",
    help="Read from annotation A to the end of annotation B.",
)
@click.option("--whole", is_flag=True, help="Read everything, not one step.")
@click.option(
    "--member", default="", help="Of a folder or zip, the trace with this in its name [the first]."
)
@click.option(
    "--torch-trace",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="The TORCH_TRACE log of COMPILED, or the folder of it: graphs, code, provenance.",
)
@click.option("--name", default="", help="Name of the run [from the files' names].")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default="compdiff-out",
    show_default=True,
    help="Folder.",
)
@format_option
def command(  # noqa: PLR0913 - one for each option
    *,
    eager: Path,
    compiled: Path | None,
    step: int | None,
    between: tuple[str, str] | None,
    whole: bool,
    member: str,
    torch_trace: Path | None,
    name: str,
    out: Path,
    form: str,
) -> int:
    """Compare the torch.profiler traces EAGER and COMPILED; with one trace only, show it.

    Each is a .json or .json.gz file, a .zip, or a folder of ranks. No torch and no GPU is needed. The sides are aligned
    by sequence and by the names of generated kernels: what these do not tell stays unexplained, and is counted. A
    TORCH_TRACE log tells more: which graph nodes a kernel computes, where they come from, why graphs broke or were
    compiled anew.
    """
    from compdiff.cli.outcome import report_run
    from compdiff.importers import Asked, import_traces, no_garbage_collection

    if (step is not None) + bool(between) + whole > 1:
        raise CompdiffError("--step, --between and --whole exclude each other", "Give one of them.")
    asked = Asked(
        step=step,
        between=between or None,
        whole=whole,
        member=member,
        torch_trace=torch_trace,
    )
    with no_garbage_collection():
        run = import_traces(eager, compiled, asked, name)
        _, code = report_run(run, out / run.case.name, form=form)
    return code
