"""index.html for several runs. In: one entry for each. Out: HTML text with a table that links to the reports."""

import msgspec

from compdiff.report.headline import Headline, Metric, failure_text
from compdiff.report.html_page import render
from compdiff.report.ladder_view import LadderPage, RungRow
from compdiff.report.quantities import UNKNOWN
from compdiff.report.view import Page

_NO_METRIC = Metric("", UNKNOWN, UNKNOWN)


class IndexRow(msgspec.Struct, frozen=True):
    """One case as the index shows it; `href` is relative to the index, empty when there is no report."""

    case: str
    href: str
    state: str
    sentence: str
    verdict: str
    speed: str
    op_calls: Metric
    kernels: Metric
    rewrites: str
    unexplained: str
    failures: tuple[str, ...]


def render_index(rows: tuple[IndexRow, ...]) -> str:
    """Return the index as HTML, rows in the order given."""
    return render("index.html", rows=rows)


def page_row(page: Page, href: str) -> IndexRow:
    """Return the row of a case that has a report."""
    head = page.head
    metrics = {metric.name: metric for metric in head.metrics}
    return IndexRow(
        case=head.case,
        href=href,
        state=_state(head),
        sentence=head.sentence,
        verdict=head.verdict,
        speed=page.timing.speed if page.timing else "not timed",
        op_calls=metrics.get("Op calls", _NO_METRIC),
        kernels=metrics.get("Kernels", _NO_METRIC),
        rewrites=f"{len(page.rewrites):,}",
        unexplained=f"{sum(one.unexplained for one in head.sums):,}",
        failures=_failures(head),
    )


def ladder_row(page: LadderPage, href: str, ends: tuple[RungRow, RungRow]) -> IndexRow:
    """Return the row of a case that has a ladder: its counts are those of two rungs, its speed that of the second."""
    first, second = ends
    failures = tuple(f"{row.name}: {row.failure}" for row in page.rungs if row.failure)
    return IndexRow(
        case=page.case,
        href=href,
        state="incomplete" if failures else "ok",
        sentence=page.sentence,
        verdict=second.verdict,
        speed=second.speed,
        op_calls=Metric("", first.op_calls, second.op_calls),
        kernels=Metric("", first.kernels, second.kernels),
        rewrites=UNKNOWN,
        unexplained=UNKNOWN,
        failures=failures,
    )


def failed_row(case: str, message: str) -> IndexRow:
    """Return the row of a case that left no report."""
    return IndexRow(
        case=case,
        href="",
        state="failed",
        sentence="",
        verdict="",
        speed=UNKNOWN,
        op_calls=_NO_METRIC,
        kernels=_NO_METRIC,
        rewrites=UNKNOWN,
        unexplained=UNKNOWN,
        failures=(message,),
    )


def _state(head: Headline) -> str:
    if head.failure is not None:
        return "incomplete"
    return "expectation failed" if head.expectation_failures else "ok"


def _failures(head: Headline) -> tuple[str, ...]:
    failure = head.failure
    own = (failure_text(failure),) if failure is not None else ()
    return own + head.expectation_failures
