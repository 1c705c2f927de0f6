"""Hostile names and sources stay text, in every output, in a real browser."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from compdiff.report import IndexEntry, write_index, write_outputs
from tests.report.browser import Opened, needs_browser
from tests.report.corpus import HOSTILE_TEXTS
from tests.report.hostile import hostile

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = needs_browser
_FOREIGN = (
    "img, iframe, object, embed, base, math, form:not([method=dialog]), link:not([rel=icon]), "
    "[onerror], [onload], [onmouseover], [onfocus]"
)


# Folded repetitions for all; a run that ended early, of which more is said, for a few.
@pytest.mark.parametrize(
    ("number", "repetitions"),
    [*((number, 12) for number in range(len(HOSTILE_TEXTS))), (0, 1), (2, 1), (8, 1)],
)
def test_stays_text(chromium: "Browser", tmp_path: Path, number: int, repetitions: int) -> None:
    """Nothing runs, loads or becomes an element; a reader sees the text; the script copes with it."""
    text = HOSTILE_TEXTS[number]
    outputs = write_outputs(*hostile(text, repetitions), tmp_path)
    opened = Opened(chromium, outputs.html)
    page = opened.page
    page.evaluate("document.querySelectorAll('details').forEach((it) => { it.open = true; })")
    page.locator("#e0 .detail").first.hover()
    page.locator("#e0 .detail").first.click()
    page.locator("#search").fill("fate:fused")
    page.locator("#search").fill(text)
    page.locator("#search").fill("")
    for button in page.locator("[data-step]").all():
        button.click()
    assert page.evaluate("typeof window.hacked") == "undefined"
    assert page.locator(_FOREIGN).count() == 0
    assert page.locator('a[href^="javascript:"]').count() == 0
    assert opened.requests == [outputs.html.as_uri()]
    assert opened.complaints == []
    shown = text.replace("\x00", "")  # which no page can hold
    assert shown.strip() in (page.locator("h1").text_content() or "")
    opened.close()


def test_the_index_of_hostile_names(chromium: "Browser", tmp_path: Path) -> None:
    """One row for each, links only to the reports."""
    entries = [
        IndexEntry(text, write_outputs(*hostile(text), tmp_path / str(number)))
        for number, text in enumerate(HOSTILE_TEXTS)
    ]
    entries.append(IndexEntry(HOSTILE_TEXTS[0], failure=HOSTILE_TEXTS[0]))
    opened = Opened(chromium, write_index(tmp_path, entries))
    assert opened.page.evaluate("typeof window.hacked") == "undefined"
    assert opened.page.locator(_FOREIGN).count() == 0
    assert opened.complaints == []
    opened.close()
