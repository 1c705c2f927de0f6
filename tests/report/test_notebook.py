"""The report in a notebook: one frame, cut off from what is around it."""

import re
import shutil
from html import unescape
from pathlib import Path

import msgspec
import pytest

from compdiff.report import notebook
from compdiff.report.html_page import render_page
from compdiff.report.view import make_page
from tests.report.examples import HOSTILE, linear, training


def test_holds_the_whole_report() -> None:
    """The frame's document is the report, with a base of its own for its links."""
    page = make_page(*linear())
    made = re.search(r'srcdoc="([^"]*)"', notebook.notebook_html(page))
    assert made is not None
    assert unescape(made[1]).replace('<base href="about:srcdoc">', "", 1) == render_page(page)


def test_the_frame_is_sandboxed() -> None:
    """Scripts may run; nothing else is allowed, least of all the notebook's origin."""
    made = notebook.notebook_html(make_page(*linear()))
    assert re.findall(r'sandbox="([^"]*)"', made) == ["allow-scripts"]
    assert made.count("<") == 2


def test_hostile_names_do_not_leave_the_frame() -> None:
    """No name ends the attribute that holds the report."""
    run, diff = training()
    named = msgspec.structs.replace(
        run, case=msgspec.structs.replace(run.case, name=f'"><script>{HOSTILE}')
    )
    made = notebook.notebook_html(make_page(named, diff))
    assert made.count("<") == 2
    assert "<script" not in made


def test_a_large_report_is_named_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """A notebook file stays small."""
    monkeypatch.setattr(notebook, "LIMIT_BYTES", 1000)
    made = notebook.notebook_html(make_page(*linear()))
    assert "2 op calls became 1 op call" in made
    assert ".html(path)" in made
    assert "<iframe" not in made


@pytest.mark.browser
def test_links_stay_in_the_frame(tmp_path: Path) -> None:
    """In a browser a link of the report moves within the report; the notebook around it is neither left nor loaded."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no chromium on this machine")
    path = tmp_path / "notebook.html"
    path.write_text(f"<!DOCTYPE html>{notebook.notebook_html(make_page(*linear()))}")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        complaints: list[str] = []
        page.on("console", lambda message: complaints.append(message.text))
        page.goto(path.as_uri())
        frame = page.frames[1]
        frame.locator("a[href='#rewrites']").first.click()
        assert frame.evaluate("location.href") == "about:srcdoc#rewrites"
        assert page.url == path.as_uri()
        assert complaints == []
        browser.close()
