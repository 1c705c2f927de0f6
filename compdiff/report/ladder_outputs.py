"""Writes ladders. In: Ladder. Out: ladder.json, ladder.html, the page they were made from; an index of several."""

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

import msgspec

from compdiff.ladder.records import Ladder, encode_ladder
from compdiff.ladder.rungs import DEFAULT, EAGER
from compdiff.report import INDEX_FILE, REPORT_FILE
from compdiff.report.ladder_view import LadderPage, RungRow, make_ladder_page
from compdiff.store import write_atomic

LADDER_FILE = "ladder.json"
LADDER_PAGE = "ladder.html"


class LadderEntry(msgspec.Struct, frozen=True):
    """One case of several: its page, or the message of what stopped it before there was one."""

    case: str
    page: LadderPage | None = None
    failure: str = ""


def write_ladder(ladder: Ladder, folder: Path) -> tuple[LadderPage, Path]:
    """Write both files into `folder`, beside the folders of the rungs; return the page and where the HTML is.

    Raises:
        CompdiffError: a file cannot be written.
    """
    from compdiff.report.html_page import render  # noqa: PLC0415 (jinja2 loads only here)

    page = make_ladder_page(ladder, REPORT_FILE)
    html = folder / LADDER_PAGE
    write_atomic(folder / LADDER_FILE, encode_ladder(ladder))
    write_atomic(html, render("ladder.html", page=page).encode())
    return page, html


def write_ladder_index(folder: Path, entries: Sequence[LadderEntry]) -> Path:
    """Write index.html into `folder`, a row for each case with its counts from eager to the default rung; return its path.

    Raises:
        CompdiffError: the file cannot be written.
    """
    from compdiff.report import index_page  # noqa: PLC0415 (jinja2 loads only here)

    rows = tuple(
        index_page.failed_row(entry.case, entry.failure)
        if entry.page is None
        else index_page.ladder_row(entry.page, _href(entry.case), _ends(entry.page))
        for entry in entries
    )
    path = folder / INDEX_FILE
    write_atomic(path, index_page.render_index(rows).encode())
    return path


def _href(case: str) -> str:
    return quote(f"{case}/{LADDER_PAGE}")


def _ends(page: LadderPage) -> tuple[RungRow, RungRow]:
    """Return the rows of eager mode and of the default rung."""
    rows = {row.name: row for row in page.rungs}
    return rows[EAGER], rows[DEFAULT.name]
