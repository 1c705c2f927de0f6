"""A report in a notebook. In: Page. Out: HTML of a frame that holds the report, cut off from the notebook around it."""

from html import escape

from compdiff.report.html_page import render_page
from compdiff.report.view import Page

LIMIT_BYTES = 3_000_000
"""A notebook keeps what it shows: a larger report is named, not shown."""

_HEIGHT_PX = 640
_HEAD = "<head>"
# Without it a link to `#r3` leads to the notebook's own address: a srcdoc document takes its base from around it.
_BASE = '<base href="about:srcdoc">'


def notebook_html(page: Page) -> str:
    """Return a sandboxed frame with the whole report in it; of one larger than LIMIT_BYTES the verdict alone."""
    report = escape(render_page(page).replace(_HEAD, f"{_HEAD}{_BASE}", 1))
    size = len(report.encode())
    if size > LIMIT_BYTES:
        return (
            f"<p><strong>{escape(page.head.case)}</strong>: {escape(page.head.sentence)}</p>"
            f"<p>The report has {size / 1e6:.1f} MB, too large for a notebook: write it with <code>.html(path)</code>.</p>"
        )
    # Scripts run, in an origin of their own: they see neither the notebook nor its cookies.
    return (
        f'<iframe sandbox="allow-scripts" title="compdiff: {escape(page.head.case)}" srcdoc="{report}" '
        f'style="width: 100%; height: {_HEIGHT_PX}px; border: 1px solid #8886; resize: vertical"></iframe>'
    )
