"""The summary in the terminal after a run. In: Page, where the files are. Out: a rich renderable.

Outside strings become `Text` with control characters spelled out, so none is read as markup or as an escape sequence.
"""

from pathlib import Path

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from compdiff.report.cards import CardItem, RewriteCard
from compdiff.report.naming import clipped, printable
from compdiff.report.view import Page

_STYLES = {"faster": "green", "slower": "red", "same": "default", "unclear": "yellow", "": "default"}
_MOST_REWRITES = 30
_ITEM_LENGTH = 60
_MOST_ITEMS = 4


def terminal_summary(page: Page, report: Path | None = None) -> RenderableType:
    """Return what a run showed: numbers, rewrites, unexplained items, findings, failures, and the report's path."""
    parts: list[RenderableType] = [_title(page), _metrics(page)]
    if page.rewrites:
        parts.append(_rewrites(page))
    parts += [_line("", text) for text in sum_lines(page)]
    parts += [_line("finding", f"{card.title} ({card.side})", "yellow") for card in page.findings]
    parts += [_line("warning", notice.text, "yellow") for notice in page.head.notices]
    parts += [_line("expected", text, "red") for text in page.head.expectation_failures]
    if page.head.failure is not None:
        failure = page.head.failure
        parts.append(_line("incomplete", f"{failure.stage}: {failure.message}", "red"))
    if report is not None:
        parts.append(_line("report", str(report)))
    return Group(*parts)


def sum_lines(page: Page) -> list[str]:
    """Return the conservation sums, one a line, those of zero items left out."""
    return [
        f"{one.name}: {one.total} = " + " + ".join(f"{part.count} {part.name}" for part in one.parts)
        for one in page.head.sums
        if one.total
    ]


def _title(page: Page) -> Text:
    title = Text(printable(page.head.case), style="bold")
    title.append("  ")
    title.append(printable(page.head.sentence), style=_STYLES.get(page.head.verdict, "default"))
    return title


def _line(label: str, text: str, style: str = "default") -> Text:
    line = Text("  ")
    if label:
        line.append(f"{label} ", style=f"bold {style}")
    return line.append(printable(" ".join(text.split())))


def _table() -> Table:
    return Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_edge=False)


def _metrics(page: Page) -> Table:
    table = _table()
    table.add_column("")
    table.add_column(Text(printable(page.head.left_label)), justify="right")
    table.add_column(Text(printable(page.head.right_label)), justify="right")
    table.add_column("")
    for metric in page.head.metrics:
        cells = (f"  {metric.name}", metric.left, metric.right, metric.change)
        table.add_row(*(Text(printable(cell)) for cell in cells))
    return table


def _rewrites(page: Page) -> Table:
    table = _table()
    for column in ("  rewrite", "source", page.head.left_label, "", page.head.right_label):
        table.add_column(Text(printable(column)), overflow="fold")
    for card in page.rewrites[:_MOST_REWRITES]:
        table.add_row(*(Text(printable(cell)) for cell in _cells(card)))
    more = len(page.rewrites) - _MOST_REWRITES
    if more > 0:
        table.add_row(Text(f"  {more} more in the report"))
    return table


def _cells(card: RewriteCard) -> tuple[str, ...]:
    rule = f"  {card.id} {card.rule}" + (f" ({card.outcome})" if card.outcome else "")
    return rule, card.source, _items(card.before), "->", _items(card.after) or "nothing"


def _items(items: tuple[CardItem, ...]) -> str:
    names = [clipped(item.ref.name, _ITEM_LENGTH) for item in items[:_MOST_ITEMS]]
    more = len(items) - _MOST_ITEMS
    return ", ".join(names) + (f" and {more} more" if more > 0 else "")
