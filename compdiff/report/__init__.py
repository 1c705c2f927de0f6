"""Writes what a run leaves for people and scripts. In: Run, Diff. Out: report.html, summary.md, diff.json, index.html.

Importing this loads next to nothing, so that commands can use one of its modules alone; jinja2 comes in when a page is made.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import msgspec

from compdiff.model import Diff, Run
from compdiff.store import write_atomic

if TYPE_CHECKING:
    from compdiff.report.view import Page

REPORT_FILE = "report.html"
SUMMARY_FILE = "summary.md"
DOCUMENT_FILE = "diff.json"
INDEX_FILE = "index.html"


class Outputs(msgspec.Struct, frozen=True):
    """Where the files of one run are, and the page they were made from."""

    folder: Path
    html: Path
    summary: Path
    document: Path
    page: "Page"


class IndexEntry(msgspec.Struct, frozen=True):
    """One case of several: its outputs, or the message of what stopped it before there were any."""

    case: str
    outputs: Outputs | None = None
    failure: str = ""


def write_outputs(
    run: Run, diff: Diff, folder: Path, *, expectation_failures: tuple[str, ...] = ()
) -> Outputs:
    """Write report.html, summary.md and diff.json of a run into `folder` and return where they are."""
    # All of the report loads only here.
    from compdiff.report.document import encode_document  # noqa: PLC0415
    from compdiff.report.html_page import render_page  # noqa: PLC0415
    from compdiff.report.summary import render_summary  # noqa: PLC0415
    from compdiff.report.view import make_page  # noqa: PLC0415

    page = make_page(run, diff, expectation_failures)
    outputs = Outputs(
        folder=folder,
        html=folder / REPORT_FILE,
        summary=folder / SUMMARY_FILE,
        document=folder / DOCUMENT_FILE,
        page=page,
    )
    folder.mkdir(parents=True, exist_ok=True)
    write_atomic(outputs.document, encode_document(run, diff, expectation_failures))
    write_atomic(outputs.summary, render_summary(page, REPORT_FILE).encode())
    write_atomic(outputs.html, render_page(page).encode())
    return outputs


def write_index(folder: Path, entries: Sequence[IndexEntry]) -> Path:
    """Write index.html into `folder`, one row for each entry in the order given, and return its path."""
    from compdiff.report import index_page  # noqa: PLC0415 (jinja2 loads only here)

    rows = tuple(
        index_page.page_row(entry.outputs.page, _href(entry.outputs.html, folder))
        if entry.outputs is not None
        else index_page.failed_row(entry.case, entry.failure)
        for entry in entries
    )
    path = folder / INDEX_FILE
    folder.mkdir(parents=True, exist_ok=True)
    write_atomic(path, index_page.render_index(rows).encode())
    return path


def _href(target: Path, folder: Path) -> str:
    """Return a link from a page in `folder` to a file, with the characters of the path made safe for a URL."""
    return quote(os.path.relpath(target, folder).replace(os.sep, "/"))
