"""summary.md for a pull-request comment. In: Page. Out: Markdown under 60 kB in which outside strings stay text."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from compdiff.report.cards import CardItem, RewriteCard
from compdiff.report.estimates import rewrite_text, summed
from compdiff.report.headline import ALWAYS_TRUE
from compdiff.report.missed_cards import MissedCard
from compdiff.report.naming import clipped, printable
from compdiff.report.rows import unexplained_items
from compdiff.report.view import Page

LIMIT_BYTES = 60_000
_RESERVE_BYTES = 400
_TEXT_LENGTH = 400
_PLAIN_CODE = re.compile(r"[\w.:,()\[\]{}=+/ -]+", re.ASCII)
_SPECIAL = re.compile(r"[\\`*\[\]<>|#~@$!&]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
# What Markdown reads at the beginning of a line: a list, a numbered one, the underline of a heading.
_AT_START = re.compile(r"^(?:[-+=]|\d+[.)])")
# What GitHub makes links of, also in text with entities, since it does so once all is rendered: people, issues, addresses.
_AUTOLINKED = re.compile(r"@(?=\w)|#(?=\d)|:(?=//)|(?i:www(?=\.)|gh(?=-\d))")
# Shows nothing, and keeps apart what would be such a link. The mark that stands for it is no printable character.
_BREAK, _CUT = "<!-- -->", "\0"
_ROOM_FOR_ITEMS = 6
_ROOM_FOR_PLACES = 4


def render_summary(page: Page, report: str = "") -> str:
    """Return the summary; `report` names the HTML report beside it."""
    head = page.head
    text = _Budget(LIMIT_BYTES - _RESERVE_BYTES)
    text.add([f"### compdiff: {code(head.case)}", "", f"**{escape(head.sentence)}**", ""])
    text.add(_banner(page))
    if page.comparison is not None:
        text.add([escape(page.comparison.case), ""] if page.comparison.case else [])
        text.add_table("Changes", "change | what | source | op calls | details", _changes(page))
        text.add_table("What runs otherwise", "change | source | what happened", _changed(page))
    text.add(_metrics(page))
    text.add(_sums(page))
    if page.comparison is None:
        columns = "rewrite | source | before | after | pass"
        text.add_table("Rewrites", columns, _rewrite_rows(page), len(page.rewrites))
    text.add_table("Missed", "rule | source | why | costs", _missed_rows(page.missed))
    text.add(_answer(page))
    text.add_table("Unexplained", "side | item | name", _unexplained_rows(page))
    text.add_list("Graph breaks", [_break(page_break) for page_break in _breaks(page)])
    text.add_list("Findings", [_finding(page, index) for index in range(len(page.findings))])
    text.add_list("Warnings", _warnings(page))
    text.add(_foot(page, report))
    return text.text()


def escape(text: str) -> str:
    """Return an outside string as Markdown that shows just that string, on one line, cut when very long."""
    line = _AUTOLINKED.sub(lambda match: match[0] + _CUT, _one_line(text))
    line = _AT_START.sub(_entity, _SPECIAL.sub(_entity, line))
    return line.replace(_CUT, _BREAK)


def _entity(match: re.Match[str]) -> str:
    """Return the last character of a match as an entity, after the rest of it."""
    return f"{match[0][:-1]}&#{ord(match[0][-1])};"


def code(text: str) -> str:
    """Return an outside string as inline code, on one line."""
    line = _one_line(text)
    return f"`{line}`" if _PLAIN_CODE.fullmatch(line) else f"<code>{escape(line)}</code>"


def _one_line(text: str) -> str:
    return clipped(printable(" ".join(text.split())), _TEXT_LENGTH)


class _Budget:
    """Lines that fit in a number of bytes; what does not fit is counted and said."""

    def __init__(self, limit: int) -> None:
        self._left = limit
        self._lines: list[str] = []

    def add(self, lines: Iterable[str]) -> int:
        """Append lines while they fit and return how many did not."""
        lost = 0
        for line in lines:
            size = len(line.encode()) + 1
            if size > self._left or lost:
                lost += 1
                continue
            self._left -= size
            self._lines.append(line)
        return lost

    def add_table(self, title: str, columns: str, rows: Sequence[str], count: int = 0) -> None:
        """Append a table under its title, inside a part that folds; nothing for no rows.

        `count` says how many things the rows stand for, where that is not one each.
        """
        if rows:
            rule = "|".join("---" for _ in columns.split("|"))
            self._fold(f"{title} ({count or len(rows):,})", [f"| {columns} |", f"|{rule}|"], rows)

    def add_list(self, title: str, items: Sequence[str]) -> None:
        """Append a list under its title, inside a part that folds; nothing for no items."""
        if items:
            self._fold(f"{title} ({len(items):,})", [], [f"- {item}" for item in items])

    def _fold(self, title: str, before: list[str], rows: Sequence[str]) -> None:
        is_open = " open" if len(rows) <= _OPEN_ROWS else ""
        opening = [f"<details{is_open}><summary>{title}</summary>", "", *before]
        closing = ["", "</details>", ""]
        needed = sum(len(line.encode()) + 1 for line in (*opening, *closing)) + _NOTE_BYTES
        if needed > self._left:
            self.add([f"{title}: see the report.", ""])
            return
        self._left -= needed
        self._lines += opening
        lost = self.add(rows)
        if lost:
            self._lines += ["", f"{lost:,} more in the report."]
        self._lines += closing

    def text(self) -> str:
        """Return all lines."""
        return "\n".join(self._lines) + "\n"


_OPEN_ROWS = 12
_NOTE_BYTES = 60


def _banner(page: Page) -> list[str]:
    head = page.head
    lines = []
    if head.failure is not None:
        lines += [
            f"> **Incomplete:** {escape(head.failure.stage)}: {escape(head.failure.message)}",
            "",
        ]
    if head.expectation_failures:
        failed = [f"> - {escape(failure)}" for failure in head.expectation_failures]
        lines += ["> **Expectations failed:**", ">", *failed, ""]
    return lines


def _metrics(page: Page) -> list[str]:
    head = page.head
    columns = f"|  | {escape(head.left_label)} | {escape(head.right_label)} | change |"
    rows = [f"| {m.name} | {m.left} | {m.right} | {escape(m.change)} |" for m in head.metrics]
    return [columns, "|---|--:|--:|---|", *rows, ""]


def _sums(page: Page) -> list[str]:
    return [f"- {sum_text(index, page)}" for index in range(len(page.head.sums))] + [""]


def sum_text(index: int, page: Page) -> str:
    """Return a conservation sum as one escaped line: `eager op calls by fate: 5 = 2 kept + 3 fused + 0 unexplained`."""
    one = page.head.sums[index]
    parts = " + ".join(f"{part.count} {part.name}" for part in one.parts)
    return f"{escape(one.name)}: {one.total} = {parts}"


def _rewrite_rows(page: Page) -> list[str]:
    """Return a row for each kind of rewrite: those of one rule, outcome and pass that took the same op calls are one."""
    alike: dict[tuple[object, ...], list[RewriteCard]] = {}
    for card in page.rewrites:
        taken = tuple(item.ref.name for item in card.before)
        alike.setdefault((card.rule, card.outcome, card.by_pass, taken), []).append(card)
    return [_rewrite_row(cards) for cards in alike.values()]


def _rewrite_row(cards: list[RewriteCard]) -> str:
    first = cards[0]
    times = f" x{len(cards):,}" if len(cards) > 1 else ""
    after = _items([item for card in cards for item in card.after]) or "nothing"
    estimate = rewrite_text(summed(card.works for card in cards))
    return (
        f"| {first.id} {code(first.rule)}{_outcome(first)}{times} | {_places(cards)} | {_items(first.before)} "
        f"| {after}{f'; {escape(estimate)}' if estimate else ''} | {code(first.by_pass) if first.by_pass else ''} |"
    )


def _places(cards: list[RewriteCard]) -> str:
    places = list(dict.fromkeys(card.source for card in cards if card.source))
    return _some([code(place) for place in places], _ROOM_FOR_PLACES)


def _changes(page: Page) -> list[str]:
    return [
        f"| {row.change} | {row.what} {code(row.name)} | {code(row.place) if row.place else ''} "
        f"| {code(row.op_calls) if row.op_calls else ''} | {escape(row.detail)} |"
        for row in (page.comparison.changes if page.comparison else ())
    ]


def _changed(page: Page) -> list[str]:
    return [
        f"| {card.id} {code(card.rule)} | {code(card.source) if card.source else ''} "
        f"| {escape(card.why)} |"
        for card in page.rewrites
    ]


def _outcome(card: RewriteCard) -> str:
    return f": {escape(card.outcome)}" if card.outcome else ""


def _items(items: Sequence[CardItem]) -> str:
    """Return the names of items, repeated ones counted; an item that several rewrites share counts once."""
    unique = {item.ref.id: item.ref.name for item in items}
    counts = Counter(unique.values())
    names = [f"{code(name)} x{n:,}" if n > 1 else code(name) for name, n in counts.items()]
    return _some(names, _ROOM_FOR_ITEMS)


def _some(texts: Sequence[str], room: int) -> str:
    more = len(texts) - room
    return ", ".join(texts[:room]) + (f" and {more:,} more" if more > 0 else "")


def _missed_rows(cards: tuple[MissedCard, ...]) -> list[str]:
    return [
        f"| {code(card.rule)} | {code(card.source) if card.source else ''} | {escape(card.why)} "
        f"| {escape(card.cost)} |"
        for card in cards
    ]


def _answer(page: Page) -> list[str]:
    """Return the answer to what the user asked, with a line for each place."""
    answer = page.why_not
    if answer is None:
        return []
    places = [
        f"- {code(it.source) if it.source else 'No line'}: {escape(it.why)}" for it in answer.missed
    ]
    return [f"**Why not {code(answer.rule)}?** {escape(answer.sentence)}", "", *places, ""]


def _unexplained_rows(page: Page) -> list[str]:
    labels = {"left": page.head.left_label, "right": page.head.right_label}
    return [
        f"| {escape(labels[item.side])} | {item.id} | {code(item.name)} |"
        for item in unexplained_items(page.rows)
    ]


def _breaks(page: Page) -> list[tuple[str, str]]:
    return [
        (item.reason, item.stack[-1].place if item.stack else "")
        for compiler in page.compilers
        for item in compiler.breaks
    ]


def _break(item: tuple[str, str]) -> str:
    reason, place = item
    return f"{escape(reason)} at {code(place)}" if place else escape(reason)


def _finding(page: Page, index: int) -> str:
    card = page.findings[index]
    advice = f" {escape(card.advice)}" if card.advice else ""
    return f"**{escape(card.title)}** ({escape(card.side)}): {escape(card.means)}{advice}"


def _warnings(page: Page) -> list[str]:
    notices = (notice for notice in page.head.notices if notice.id not in ALWAYS_TRUE)
    return [f"{escape(notice.side)}: {escape(notice.text)}" for notice in notices]


def _foot(page: Page, report: str) -> list[str]:
    known = {fact.name: fact.value for fact in page.about.environment}
    shown = [f"{name} {known[name]}" for name in ("torch", "Triton", "CUDA") if name in known]
    environment = ", ".join([escape(page.head.device), *map(escape, shown)])
    return [f"{environment}. Details: {code(report)}." if report else f"{environment}."]
