"""Entries as text. In: entries. Out: cells and lines in which no string from an archive acts on the terminal."""

from collections.abc import Sequence

from compdiff.archive import Entry
from compdiff.archive.entry import Span

SHORT_ID = 12
SHORT_COMMIT = 10
_WIDEST = 40


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return lines of columns, the last of any width."""
    cells = [[*map(cell, row[:-1]), printable_text(row[-1])] for row in (head, *rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head) - 1)]
    return [
        "  ".join(
            [*(text.ljust(width) for text, width in zip(row, widths, strict=False)), row[-1]]
        ).rstrip()
        for row in cells
    ]


def cell(text: str) -> str:
    """Return a text that fits a column."""
    from compdiff.report.naming import clipped

    return clipped(printable_text(text), _WIDEST)


def printable_text(text: str) -> str:
    """Return a text with what would act on the terminal spelled out."""
    from compdiff.report.naming import printable

    return printable(text)


def when_text(entry: Entry) -> str:
    """Return when a run was measured, to the minute, UTC."""
    return entry.created[:16].replace("T", " ")


def commit_text(entry: Entry) -> str:
    """Return the start of a commit, with a + for uncommitted changes; - for none."""
    if not entry.commit.id:
        return "-"
    return entry.commit.id[:SHORT_COMMIT] + ("+" if entry.commit.dirty else "")


def device_text(entry: Entry) -> str:
    """Return the device a run was made on or for."""
    return f"plan for {entry.target}" if entry.target else entry.device_name or entry.device


def time_text(span: Span | None) -> str:
    """Return a time with its interval; - for none."""
    from compdiff.report.quantities import duration_text, interval_text

    if span is None:
        return "-"
    return f"{duration_text(span.median_ns)} ({interval_text(span.low_ns, span.high_ns)})"


def marks_text(entry: Entry) -> str:
    """Return tags, and that a run is pinned or ended early."""
    marks = [*entry.tags]
    marks += ["pinned"] if entry.pinned else []
    marks += ["incomplete"] if entry.failure else []
    return ", ".join(marks)
