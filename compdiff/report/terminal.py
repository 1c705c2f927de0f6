"""The summary in the terminal after a run. In: Page, where the files are. Out: a rich renderable.

Outside strings become `Text` with control characters spelled out, so none is read as markup or as an escape sequence.
"""

import io
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from compdiff.report.cards import CardItem, RewriteCard
from compdiff.report.comparison import ChangeRow, ComparisonView
from compdiff.report.estimates import rewrite_text, summed
from compdiff.report.headline import ALWAYS_TRUE, Notice, failure_text
from compdiff.report.missed_cards import MissedCard
from compdiff.report.naming import clipped, printable
from compdiff.report.rows import unexplained_items
from compdiff.report.view import Page

_STYLES = {
    "faster": "green",
    "slower": "red",
    "same": "default",
    "unclear": "yellow",
    "": "default",
}
_STYLE_OF_CHANGE = {"lost": "red", "gained": "green", "changed": "yellow"}
_PLAIN_WIDTH = 120
_ITEM_LENGTH = 60
_MOST_NAMES = 4
_MOST_UNEXPLAINED = 10
_MOST_MISSED = 5


def plain_summary(page: Page) -> str:
    """Return the summary as plain text, lines of at most 120 columns."""
    console = Console(file=io.StringIO(), width=_PLAIN_WIDTH, highlight=False, color_system=None)
    with console.capture() as printed:
        console.print(terminal_summary(page))
    return printed.get().rstrip("\n")


def terminal_summary(page: Page, report: Path | None = None) -> RenderableType:
    """Return what a run showed: numbers, rewrites, unexplained items, findings, failures, and the report's path."""
    parts: list[RenderableType] = [title_lines(page)]
    parts += _middle(page) if page.comparison is None else _compared(page, page.comparison)
    return Group(*parts, *closing_lines(page, report))


def closing_lines(page: Page, report: Path | None) -> list[RenderableType]:
    """Return findings, warnings, failures and the report's path."""
    parts = [_line("finding", f"{card.title} ({card.side})", "yellow") for card in page.findings]
    parts += [_notice(notice) for notice in page.head.notices if notice.id not in ALWAYS_TRUE]
    parts += [_line("failed", text, "red") for text in page.head.expectation_failures]
    if page.head.failure is not None:
        parts.append(_line("incomplete", failure_text(page.head.failure), "red"))
    if report is not None:
        parts.append(_line("report", str(report)))
    return [*parts]


def _middle(page: Page) -> list[RenderableType]:
    """Return numbers, rewrites and sums of one run."""
    sums = [_line("", text) for text in sum_lines(page)]
    parts: list[RenderableType] = [_metrics(page), *_rewrites(page), *_missed(page)]
    return [*parts, *sums, *_unexplained(page), *_answer(page)]


def _missed(page: Page) -> list[RenderableType]:
    """Return what was missed, the dearest places in full; those of a rule that was asked about stand in the answer."""
    asked = page.why_not.rule if page.why_not else ""
    alike: dict[tuple[str, str], list[MissedCard]] = {}
    for card in page.missed:
        if card.rule != asked:
            alike.setdefault((card.rule, card.condition), []).append(card)
    groups = list(alike.values())
    lines = [line for cards in groups[:_MOST_MISSED] for line in _missed_alike(cards)]
    more = sum(len(cards) for cards in groups[_MOST_MISSED:])
    return [*lines, *([_line("missed", f"{more} more in the report", "yellow")] if more else [])]


def _missed_alike(cards: list[MissedCard]) -> list[RenderableType]:
    """Return the dearest of the places where one condition of one rule failed, and how many more there are."""
    more = f"and {len(cards) - 1} more where the same condition failed"
    lines = _missed_place(cards[0], "missed")
    return [*lines, *([_indented(more)] if len(cards) > 1 else [])]


def _missed_place(card: MissedCard, label: str) -> list[RenderableType]:
    """Return a place with its reason, and what it costs."""
    first = _line(label, f"{card.rule}  {card.source}", "yellow")
    return [first, _indented(card.why), *([_indented(f"costs {card.cost}")] if card.cost else [])]


def _answer(page: Page) -> list[RenderableType]:
    """Return the answer to what the user asked."""
    answer = page.why_not
    if answer is None:
        return []
    applied = f" Where: {_some([ref.id for ref in answer.applied])}." if answer.applied else ""
    first = _line("why not", f"{answer.rule}: {answer.sentence}{applied}", "cyan")
    return [first, *(line for card in answer.missed for line in _missed_place(card, "near"))]


def _unexplained(page: Page) -> list[RenderableType]:
    """Return a line for each item that nothing explains, the first ones in full; none where the run ended early."""
    items = unexplained_items(page.rows) if page.head.failure is None else ()
    labels = {"left": page.head.left_label, "right": page.head.right_label}
    lines = [
        _line("unexplained", f"{item.name} ({item.id}, {labels[item.side]})  {item.place}", "red")
        for item in items[:_MOST_UNEXPLAINED]
    ]
    more = len(items) - len(lines)
    return [*lines, *([_line("unexplained", f"and {more} more", "red")] if more else [])]


def _compared(page: Page, comparison: ComparisonView) -> list[RenderableType]:
    """Return what changed between two runs, first what compilers decided, then numbers; of equal runs nothing more."""
    if comparison.same:
        return []
    parts: list[RenderableType] = [_line("", comparison.case, "yellow")] if comparison.case else []
    parts += _changes(comparison)
    for cards in _alike(page):
        parts += _changed_items(cards)
    sums = [_line("", text) for text in sum_lines(page)]
    return [*parts, _metrics(page), *sums, _line("unchanged", comparison.unchanged)]


def _changes(comparison: ComparisonView) -> list[RenderableType]:
    """Return two lines for each change; those of one kind and name are told together."""
    alike: dict[tuple[str, str, str], list[ChangeRow]] = {}
    for row in comparison.changes:
        alike.setdefault((row.change, row.what, row.name), []).append(row)
    lines: list[RenderableType] = []
    for (change, what, name), rows in alike.items():
        times = f" x{len(rows)}" if len(rows) > 1 else ""
        first = _line(change, f"{what} {name}{times}", _STYLE_OF_CHANGE[change])
        first.append(printable(f"  {_some(_unique(row.place for row in rows))}"))
        details = _unique(
            ": ".join(part for part in (row.op_calls, row.detail) if part) for row in rows
        )
        lines += [first, *([_indented(_some(details))] if details else [])]
    return lines


def _changed_items(cards: list[RewriteCard]) -> list[RenderableType]:
    """Return what items of one rule were and are."""
    times = f" x{len(cards)}" if len(cards) > 1 else ""
    line = _line(cards[0].rule, f"{times}  {_places(cards)}", "cyan")
    counts = Counter(card.why for card in cards)
    texts = [f"{why} (x{n})" if n > 1 else why for why, n in counts.items()]
    more = [f"and {len(texts) - _MOST_NAMES} more"] if len(texts) > _MOST_NAMES else []
    return [line, *(_indented(text) for text in [*texts[:_MOST_NAMES], *more])]


def _indented(text: str) -> Padding:
    """Return a text that keeps its indent where it is broken."""
    return Padding(Text(printable(text), style="dim"), (0, 0, 0, 4))


def _notice(notice: Notice) -> Text:
    """Return a warning; what two compared runs differ in is none."""
    if notice.id.endswith("-differs"):
        return _line("differs", notice.text)
    return _line("warning", notice.text, "yellow")


def _unique(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(text for text in texts if text))


def sum_lines(page: Page) -> list[str]:
    """Return the conservation sums, one a line, those of zero items left out."""
    return [
        f"{one.name}: {one.total} = "
        + " + ".join(f"{part.count} {part.name}" for part in one.parts)
        for one in page.head.sums
        if one.total
    ]


def title_lines(page: Page) -> Text:
    """Return the case and the verdict."""
    title = Text(printable(page.head.case), style="bold")
    title.append("\n  ")
    title.append(printable(page.head.sentence), style=_STYLES.get(page.head.verdict, "default"))
    return title


def _line(label: str, text: str, style: str = "default") -> Text:
    line = Text("  ")
    if label:
        line.append(f"{label} ", style=f"bold {style}")
    return line.append(printable(" ".join(text.split())))


def _metrics(page: Page) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_edge=False)
    table.add_column("")
    table.add_column(Text(printable(page.head.left_label)), justify="right", no_wrap=True)
    table.add_column(Text(printable(page.head.right_label)), justify="right", no_wrap=True)
    table.add_column("")
    for metric in page.head.metrics:
        cells = (f"  {metric.name}", metric.left, metric.right, metric.change)
        table.add_row(*(Text(printable(cell)) for cell in cells))
    return table


def _rewrites(page: Page) -> list[Text]:
    """Return two or three lines for each rewrite; those of one rule and outcome are told together."""
    return [line for cards in _alike(page) for line in _rewrite(cards)]


def _alike(page: Page) -> list[list[RewriteCard]]:
    alike: dict[tuple[str, str], list[RewriteCard]] = {}
    for card in page.rewrites:
        alike.setdefault((card.rule, card.outcome), []).append(card)
    return list(alike.values())


def _rewrite(cards: list[RewriteCard]) -> tuple[Text, ...]:
    first = cards[0]
    name = Text("  ")
    name.append(printable(first.rule), style="bold cyan")
    outcome = f" ({first.outcome})" if first.outcome else ""
    times = f" x{len(cards)}" if len(cards) > 1 else ""
    name.append(printable(f"{outcome}{times}  {_places(cards)}"))
    before = _items([item for card in cards for item in card.before if not item.shared])
    after = _items([item for card in cards for item in card.after]) or "nothing"
    lines = [name, Text(printable(f"    {before} -> {after}"), style="dim")]
    estimate = rewrite_text(summed(card.works for card in cards))
    if estimate:
        lines.append(Text(printable(f"    {estimate}"), style="dim"))
    return tuple(lines)


def _places(cards: list[RewriteCard]) -> str:
    return _some(_unique(card.source for card in cards))


def _items(items: list[CardItem]) -> str:
    """Return the names of items, repeated ones counted; an item that several rewrites share counts once."""
    unique = {item.ref.id: clipped(item.ref.name, _ITEM_LENGTH) for item in items}
    counts = Counter(unique.values())
    return _some([f"{name} x{n}" if n > 1 else name for name, n in counts.items()])


def _some(names: list[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
