"""summary.md: outside text stays text, tables keep their columns, and a comment stays small."""

import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compdiff.report.summary import LIMIT_BYTES, code, escape, render_summary
from compdiff.report.view import make_page
from tests.report.examples import Example, geglu, linear, training

_SPECIAL = re.compile(r"[\\`*\[\]<>|#~@$!]")


def summary(example: Example, *failures: str) -> str:
    """Return an example's summary."""
    return render_summary(make_page(*example, failures), "report.html")


def test_says_what_happened_first() -> None:
    """The case and the verdict are the first lines."""
    first, _, second, *_ = summary(linear()).splitlines()
    assert first == "### compdiff: `linear`"
    assert second.startswith("**2 op calls became 1 op call")


@given(st.text(max_size=80))
def test_escaped_text_has_no_markup(text: str) -> None:
    """Whatever comes in, no character that Markdown reads comes out unescaped, and no line break."""
    escaped = escape(text)
    assert "\n" not in escaped
    assert not _SPECIAL.search(re.sub(r"&#\d+;|<!-- -->", "", escaped))


@given(st.text(max_size=80))
def test_code_is_one_span(text: str) -> None:
    """Backquotes cannot end it, pipes cannot split a table's cell."""
    made = code(text)
    inside = made.removeprefix("`").removesuffix("`")
    assert "|" not in made
    assert "`" not in inside
    assert "\n" not in made


def test_tables_keep_their_columns() -> None:
    """Every row of a table has as many cells as its head, with hostile names in them."""
    lines = summary(training()).splitlines()
    for index, line in enumerate(lines):
        if set(line) <= set("|-: ") and "|" in line:
            columns = lines[index - 1].count("|")
            rows = iter(lines[index + 1 :])
            for row in rows:
                if not row.startswith("|"):
                    break
                assert row.count("|") == columns, row


def test_mentions_nobody() -> None:
    """A name with an at sign in it notifies no person, and a link leads nowhere."""
    text = summary(training())
    assert "@someone" not in text
    assert "](http" not in text


def test_failed_expectations_stand_at_the_top() -> None:
    """They come before the numbers."""
    text = summary(linear(), "expected at most 0 kernels")
    assert text.index("expected at most 0 kernels") < text.index("Op calls")


def test_sums_are_spelled_out() -> None:
    """The conservation law is printed."""
    assert "8 = 3 kept + 2 fused + 3 eliminated + 0 unexplained" in summary(geglu())


def test_what_holds_for_every_run_is_no_warning() -> None:
    """That compdiff observes stands in the report; a comment is for what is special."""
    assert "It was watched." not in summary(training())


def test_rewrites_alike_are_one_row() -> None:
    """Three views that went by the same rule are told together, with how often."""
    text = summary(geglu())
    assert text.count("`view-elimination`") == 1
    assert "`view-elimination` x3" in text
    assert "Rewrites (4)" in text


def test_a_large_run_stays_below_the_limit() -> None:
    """What does not fit is counted."""
    run, diff = geglu()
    rewrites = tuple(
        msgspec.structs.replace(diff.rewrites[1], id=f"r{number}", rule=f"rule-{number}")
        for number in range(2, 3000)
    )
    text = summary(Example(run, msgspec.structs.replace(diff, rewrites=rewrites)))
    assert len(text.encode()) <= LIMIT_BYTES
    assert re.search(r"\d+ more in the report\.", text)


@pytest.mark.parametrize("example", [linear, geglu, training])
def test_names_the_report(example: object) -> None:
    """The reader is told where all of it is."""
    assert callable(example)
    assert "report.html" in summary(example())


def test_missed_places_and_an_answer_are_told() -> None:
    """A table with the cost of each place, and the answer with its places."""
    text = summary(training())
    assert "<summary>Missed (8)</summary>" in text
    assert "1 kernel more and 10.0 KiB of memory traffic |" in text
    assert "It applied 1 time, and nearly did in 1 other place." in text
