"""Writes a ladder. In: Ladder. Out: ladder.json, ladder.html, and the page they were made from."""

from pathlib import Path

from compdiff.ladder.records import Ladder, encode_ladder
from compdiff.report import REPORT_FILE
from compdiff.report.ladder_view import LadderPage, make_ladder_page
from compdiff.store import write_atomic

LADDER_FILE = "ladder.json"
LADDER_PAGE = "ladder.html"


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
