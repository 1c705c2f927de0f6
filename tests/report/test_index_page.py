"""index.html: one row a case, links that work, failures shown."""

from pathlib import Path

from compdiff.report import IndexEntry, write_index, write_outputs
from tests.report.examples import HOSTILE, geglu, linear
from tests.report.test_html_page import Elements


def index(folder: Path) -> Elements:
    """Write two reports, one with a blank and an umlaut in its folder, and a failed case; return the index."""
    entries = [
        IndexEntry("linear", write_outputs(*linear(), folder / "linear")),
        IndexEntry("geglu", write_outputs(*geglu(), folder / "größe 4")),
        IndexEntry(HOSTILE, failure=HOSTILE),
    ]
    return Elements(write_index(folder, entries).read_text(encoding="utf-8"))


def test_links_lead_to_the_reports(tmp_path: Path) -> None:
    """They are relative, so that the folder can be moved."""
    links = [href for href in index(tmp_path).every("href") if "report.html" in href]
    assert links == ["linear/report.html", "gr%C3%B6%C3%9Fe%204/report.html"]


def test_a_failed_case_has_a_row(tmp_path: Path) -> None:
    """What could not be measured is not left out, and its text makes no element."""
    page = index(tmp_path)
    assert HOSTILE in "".join(page.words)
    assert not {tag for tag, _ in page.found} & {"img"}


def test_rows_show_what_matters(tmp_path: Path) -> None:
    """Op calls, speed and what is unexplained."""
    words = " ".join("".join(index(tmp_path).words).split())
    assert "linear" in words
    assert "mlp_geglu" in words
    assert "1.80x faster" in words
