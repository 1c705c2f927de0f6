"""The pages of an archive's site. In: frozen views, all texts final. Out: HTML that needs no network.

They share templates, style and script with the reports.
"""

import msgspec

from compdiff.report.history_chart import HistoryChart
from compdiff.report.html_page import render


class RunRow(msgspec.Struct, frozen=True):
    """One run of a history; `href` is that of its report, "" where none was written."""

    id: str
    href: str
    when: str
    commit: str
    torch: str
    op_calls: str
    kernels: str
    rewrites: str
    breaks: str
    time: str
    ratio: str
    changed: tuple[str, ...]
    marks: str


class LineView(msgspec.Struct, frozen=True):
    """The history of a case on one device with one set of options; rows newest first, `more` are left out."""

    title: str
    anchor: str
    charts: tuple[HistoryChart, ...]
    levels: tuple[str, ...]
    rows: tuple[RunRow, ...]
    more: int


class CasePage(msgspec.Struct, frozen=True):
    """All that the site says of one case."""

    case: str
    summary: str
    lines: tuple[LineView, ...]


class LateChange(msgspec.Struct, frozen=True):
    """Something that changed lately; `kind` is `worse`, `better` or `other`."""

    kind: str
    case: str
    href: str
    text: str
    place: str
    when: str
    commit: str


class Cell(msgspec.Struct, frozen=True):
    """What a case is with one torch version; `kind` is `worse` or `better` than with the version before, or ""."""

    text: str
    note: str = ""
    kind: str = ""


class MatrixRow(msgspec.Struct, frozen=True):
    """A case on one device, a cell for each torch version."""

    case: str
    href: str
    place: str
    cells: tuple[Cell, ...]


class SiteIndex(msgspec.Struct, frozen=True):
    """The front page."""

    summary: str
    changes: tuple[LateChange, ...]
    versions: tuple[str, ...]
    matrix: tuple[MatrixRow, ...]


def render_site_index(page: SiteIndex) -> str:
    """Return the front page as HTML."""
    return render("site_index.html", page=page)


def render_case_page(page: CasePage) -> str:
    """Return the page of a case as HTML."""
    return render("site_case.html", page=page)
