"""A ladder in the terminal. In: LadderPage, where the page is. Out: a rich renderable.

Outside strings become `Text` with control characters spelled out, as in the summary of a run.
"""

from pathlib import Path

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from compdiff.report.ladder_parts import PartTable
from compdiff.report.ladder_view import ChangeView, LadderPage
from compdiff.report.naming import printable

_STYLES = {"faster": "green", "slower": "red", "unclear": "yellow"}
_INDENT = (0, 0, 0, 2)


def terminal_ladder(page: LadderPage, html: Path) -> RenderableType:
    """Return the rungs, where their time goes, the changes in words, what failed, and where the page is."""
    parts: list[RenderableType] = [_title(page), _rungs(page)]
    if page.parts is not None:
        parts.append(_parts(page.parts))
    parts += [line for change in page.changes for line in _change(change)]
    parts += [
        _line("failed", f"{row.name}: {row.failure}", "red") for row in page.rungs if row.failure
    ]
    parts += [_line("note", text, "yellow") for text in page.notices]
    parts.append(_line("ladder", str(html)))
    return Group(*parts)


def _title(page: LadderPage) -> Text:
    title = Text(printable(page.case), style="bold")
    return title.append(f"\n  {printable(page.sentence)}", style="default")


def _rungs(page: LadderPage) -> RenderableType:
    columns = _PLANNED if page.planned else _MEASURED
    table = _table()
    table.add_column("", no_wrap=True)
    for title, _ in columns:
        table.add_column(title, justify="right")
    for row in page.rungs:
        cells = ["failed"] + ["-"] * (len(columns) - 1)
        if not row.failure:
            cells = [getattr(row, field) for _, field in columns]
        style = _STYLES.get(row.verdict, "red" if row.failure else "default")
        table.add_row(row.name, *(Text(printable(cell)) for cell in cells), style=style)
    return Padding(table, _INDENT)


_COUNTED = (("op calls", "op_calls"), ("kernels", "kernels"), ("launches", "launches"))
_MEASURED = (
    ("time per call", "step"),
    ("against eager", "speed"),
    *_COUNTED,
    ("compile", "compile_time"),
    ("calls to pay back", "payback"),
)
_PLANNED = (
    *_COUNTED,
    ("device work, estimated", "work"),
    ("memory traffic", "traffic"),
    ("CUDA graph", "cuda_graph"),
)


def _parts(parts: PartTable) -> RenderableType:
    table = _table()
    table.add_column("profiled step", no_wrap=True)
    for name in parts.rungs:
        table.add_column(name, justify="right")
    for row in parts.rows:
        table.add_row(row.label, *(cell.time for cell in row.cells))
    table.add_row("sum", *parts.totals, style="bold")
    if parts.idle:
        table.add_row("device idle", *parts.idle)
    return Padding(table, _INDENT)


def _table() -> Table:
    return Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_edge=False)


def _change(change: ChangeView) -> list[RenderableType]:
    first = _line(change.title, "", _STYLES.get(change.verdict, "default"))
    details = Text(printable("; ".join(change.sentences)), style="dim")
    return [first, Padding(details, (0, 0, 0, 4))]


def _line(label: str, text: str, style: str = "default") -> Text:
    line = Text("  ").append(printable(f"{label} "), style=f"bold {style}")
    return line.append(printable(" ".join(text.split())))
