"""`compdiff archive compare`: any two runs."""

from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from compdiff.archive import Archive
from compdiff.cli.archive.lines import printable_text, table
from compdiff.cli.archive.settings import archive_option, format_option, opened
from compdiff.model import Run, Side
from compdiff.store import read_run

if TYPE_CHECKING:
    from compdiff.regression.quantities import Quantity
    from compdiff.regression.times import TimeChange

DEFAULT_LIMIT = 0.035


class Compared(msgspec.Struct, frozen=True):
    """What is said of two runs, for scripts: ids are empty for files; `changes` are those of the compiled sides."""

    case: str
    base: str
    new: str
    sentence: str
    eager: str
    changes: list[str]
    quantities: dict[str, tuple[float | None, float | None]]
    time: str
    time_why: str
    time_ratio: tuple[float, float, float] | None


@click.command(name="compare")
@click.argument("base")
@click.argument("new")
@archive_option
@click.option(
    "--case", "case_name", default="", help="The case, where a commit or tag has several."
)
@click.option(
    "--slowdown",
    type=click.FloatRange(0, 10),
    default=DEFAULT_LIMIT,
    show_default=True,
    help="Times that differ by a smaller share are the same.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write the comparison of the compiled sides and of the eager sides here.",
)
@format_option
def command(  # noqa: PLR0913 - one for each option
    base: str,
    new: str,
    *,
    location: str,
    case_name: str,
    slowdown: float,
    out: Path | None,
    form: str,
) -> int:
    """Compare BASE with NEW: what was lost, gained and changed, each a run of the archive or a run file.

    Compiled sides are compared through the eager op calls that both share. Times are judged beside each run's own eager
    side, and only where both were measured on one machine.
    """
    from compdiff.regression.times import judge

    (base_id, before), (new_id, after) = _pair(base, new, location, case_name)
    time = judge([before], [after], slowdown)
    if form == "json":
        compared = _compared((base_id, before), (new_id, after), time)
        click.echo(msgspec.json.format(msgspec.json.encode(compared), indent=2).decode())
    else:
        _print(before, after, time)
    if out is not None:
        _report(before, after, out)
    return 0


def _pair(base: str, new: str, location: str, case: str) -> tuple[tuple[str, Run], tuple[str, Run]]:
    """Return both runs with their ids; a reference without a case means that of the other, or of --case."""
    if Path(base).is_file() and Path(new).is_file():
        return ("", read_run(Path(base))), ("", read_run(Path(new)))
    with opened(location) as archive:
        case = case or _case_in(base) or _case_in(new)
        first = _run(archive, base, case)
        return first, _run(archive, new, case or first[1].case.name)


def _case_in(reference: str) -> str:
    return "" if Path(reference).is_file() else reference.partition(":")[2]


def _run(archive: Archive, reference: str, case: str) -> tuple[str, Run]:
    if Path(reference).is_file():
        return "", read_run(Path(reference))
    entry = archive.resolve(reference if ":" in reference or not case else f"{reference}:{case}")
    return entry.id, archive.load(entry.id)


# ---------------------------------------------------------------- what it says


def _compared(base: tuple[str, Run], new: tuple[str, Run], time: "TimeChange") -> Compared:
    from compdiff.regression.changes import changes
    from compdiff.regression.quantities import analysed, eager_sentence, quantities, sentence

    before, after = analysed(base[1]), analysed(new[1])
    return Compared(
        case=new[1].case.name,
        base=base[0],
        new=new[0],
        sentence=sentence(before, after),
        eager=eager_sentence(base[1], new[1]),
        changes=[one.text for one in changes(before.stanza, after.stanza)],
        quantities={one.name: (one.before, one.after) for one in quantities(before, after)},
        time=time.verdict,
        time_why=time.why,
        time_ratio=(time.ratio.median, time.ratio.low, time.ratio.high) if time.ratio else None,
    )


def _print(before: Run, after: Run, time: "TimeChange") -> None:
    from compdiff.analysis import compare
    from compdiff.cli.console import print_page
    from compdiff.regression.quantities import analysed, eager_sentence, quantities, sentence
    from compdiff.report.view import make_page

    both = analysed(before), analysed(after)
    click.echo(printable_text(sentence(*both)))
    click.echo(printable_text(f"  eager: {eager_sentence(before, after)}"))
    click.echo(printable_text(f"  time {time.verdict}: {time.why}"))
    rows = [_row(one) for one in quantities(*both)]
    for line in table(("", "base", "new", ""), rows):
        click.echo(f"  {line}")
    print_page(make_page(*compare(before, "right", after, "right"), ()))


def _row(quantity: "Quantity") -> tuple[str, ...]:
    texts = [text or "-" for text in (quantity.before_text, quantity.after_text)]
    return (quantity.name, *texts, "changed" if quantity.is_changed else "")


def _report(before: Run, after: Run, out: Path) -> None:
    """Write the reports of both comparisons; a side without op calls has none."""
    from compdiff.analysis import compare
    from compdiff.report import write_outputs

    sides: tuple[tuple[str, Side], ...] = (("compiled", "right"), ("eager", "left"))
    for name, side in sides:
        outputs = write_outputs(*compare(before, side, after, side), out / name)
        click.echo(printable_text(f"  {name}: {outputs.html}"))
