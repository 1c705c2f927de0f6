"""`compdiff diff`: compare any two sides of any two runs."""

from pathlib import Path

import click
import msgspec

from compdiff.errors import CompdiffError
from compdiff.model import Capture, CaptureWarning, Run
from compdiff.plan_accuracy import agreement
from compdiff.store import read_run

_SIDES = ("left", "right")


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
def command(a: str, b: str, out: Path) -> int:
    """Compare two sides of two runs, or of one.

    A and B are each RUN_FILE, RUN_FILE:left or RUN_FILE:right (default: right). What differs in
    environment, options and parameters is listed.
    """
    from compdiff.analysis import analyse
    from compdiff.cli.console import print_summary
    from compdiff.report import write_outputs

    run = combined(parse_side(a), parse_side(b))
    print_summary(write_outputs(run, analyse(run), out / run.case.name))
    return 0


def parse_side(text: str) -> tuple[Run, str]:
    """Return (run, side) of `file`, `file:left` or `file:right`."""
    file, colon, side = text.rpartition(":")
    if colon and side in _SIDES:
        return read_run(Path(file)), side
    return read_run(Path(text)), "right"


def combined(a: tuple[Run, str], b: tuple[Run, str]) -> Run:
    """Return a run of side A, left, and side B, right; what else differs are warnings."""
    left, right = _side(*a), _side(*b)
    if not left.op_calls or not (right.op_calls or right.kernels):
        message = f"{a[0].case.name}: a side without op calls cannot be compared"
        raise CompdiffError(message, "That run ended early; measure it again.")
    name = f"{a[0].case.name}-{a[1]}-against-{b[0].case.name}-{b[1]}"
    return msgspec.structs.replace(
        b[0],
        case=msgspec.structs.replace(b[0].case, name=name),
        left=left,
        right=right,
        timing=None,
        numerics=None,
        expectation=None,
        audits=(),
        warnings=(*_plan_warnings(left, right), *_differences(a[0], b[0])),
    )


def _plan_warnings(left: Capture, right: Capture) -> list[CaptureWarning]:
    """Return how right a plan was, where one side is planned and the other measured on a GPU."""
    found = agreement(left, right)
    if found is None:
        return []
    text = f"the plan foresaw {found.foreseen} of {found.measured} measured kernels"
    wrong = [CaptureWarning(id="plan-wrong", text=sentence) for sentence in found.wrong]
    return [CaptureWarning(id="plan-agreement", text=text), *wrong]


def _side(run: Run, side: str) -> Capture:
    capture = run.left if side == "left" else run.right
    return msgspec.structs.replace(capture, label=f"{run.case.name} {capture.label}")


def _differences(a: Run, b: Run) -> list[CaptureWarning]:
    """Return one warning for each difference in environment, options and parameters."""
    from deepdiff import DeepDiff

    asdict = msgspec.structs.asdict
    parts = (
        ("environment", asdict(a.environment), asdict(b.environment)),
        ("options", asdict(a.options), asdict(b.options)),
        ("parameters", a.case.params, b.case.params),
    )
    found = []
    for part, before, after in parts:
        # Without the threshold, dicts with few common keys would be one difference, shown whole.
        tree = DeepDiff(before, after, view="tree", threshold_to_diff_deeper=0)
        for items in tree.values():
            for item in items:
                path = ".".join(str(key) for key in item.path(output_format="list"))
                text = f"{part}: {path}: {_shown(item.t1)} -> {_shown(item.t2)}"
                found.append(CaptureWarning(id=f"{part}-differs", text=text))
    return sorted(found, key=lambda warning: warning.text)


def _shown(value: object) -> str:
    text = str(value)
    return "absent" if text in {"", "not present"} else text
