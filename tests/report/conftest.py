"""The browser that all tests of pages share. Skips them where playwright is not installed."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.report.browser import BROWSER

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(name="chromium", scope="session")
def _chromium() -> "Iterator[Browser]":
    reason = "playwright is not installed"
    sync_api = pytest.importorskip("playwright.sync_api", reason=reason)
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=flags)
        yield browser
        browser.close()
