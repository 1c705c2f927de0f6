"""A real browser for tests of pages. In: a file. Out: the page, with what it asked for and complained of."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
# A page that does not do what is asked within this time does not do it.
_MOST_MS = 8_000
needs_browser = [
    pytest.mark.browser,
    pytest.mark.skipif(not BROWSER, reason="no chromium on this machine"),
]


class Opened:
    """A report in the browser, with what it asked for and complained of."""

    def __init__(self, browser: "Browser", path: Path, **context: Any) -> None:  # noqa: ANN401 - options of playwright
        self.page = browser.new_context(**context).new_page()
        self.page.set_default_timeout(_MOST_MS)
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.goto(path.as_uri())

    def js(self, script: str, argument: object = None) -> Any:  # noqa: ANN401 - what the script gives
        """Return what a script gives in the page."""
        return self.page.evaluate(script, argument)

    def close(self) -> None:
        """Close the page with all that belongs to it."""
        self.page.context.close()
