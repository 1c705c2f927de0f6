"""What the terminal shows after a run."""

import io

import msgspec
import pytest
from rich.console import Console

from compdiff.model import Missed, WhyNot
from compdiff.report.terminal import terminal_summary
from compdiff.report.view import make_page
from tests.report.examples import Example, geglu, linear, training


def printed(example: Example, *failures: str, width: int = 100, color: bool = False) -> str:
    """Return what the terminal shows."""
    file = io.StringIO()
    console = Console(file=file, width=width, force_terminal=color)
    console.print(terminal_summary(make_page(*example, failures)))
    return file.getvalue()


def test_shows_verdict_rewrite_and_sums() -> None:
    """What was rewritten, where, and that nothing is unexplained."""
    text = printed(linear())
    assert "2 op calls became 1 op call" in text
    assert "mm-add-to-addmm (seeded-output)  linear.py:12" in text
    assert "2 = 2 rewritten + 0 unexplained" in text


def test_rewrites_alike_are_told_together() -> None:
    """Three views that went are one entry, with the places."""
    text = printed(geglu())
    assert text.count("view-elimination") == 1
    assert "view-elimination x3" in text


def test_control_characters_are_spelled_out() -> None:
    """An escape sequence in a name is not sent to the terminal."""
    assert "\x1b[31m" not in printed(training())


def test_markup_in_names_is_text() -> None:
    """Square brackets are shown as they are."""
    assert "[a](http" in printed(training(), width=200)


def test_what_is_unexplained_is_named() -> None:
    """The op call and the compiled item that nothing explains are shown."""
    run, diff = training()
    text = printed(Example(msgspec.structs.replace(run, failure=None), diff))
    assert "aten::sum" in text
    assert "aten::mystery" in text


def test_a_narrow_terminal_loses_nothing() -> None:
    """At 60 columns lines wrap, and none is longer."""
    text = printed(geglu(), width=60)
    assert max(len(line) for line in text.splitlines()) <= 60
    assert "pointwise-fusion" in text


def test_failures_come_last() -> None:
    """They are what a reader sees above the prompt."""
    text = printed(linear(), "expected at most 0 kernels")
    assert text.rstrip().endswith("expected at most 0 kernels")


def test_color_is_for_terminals() -> None:
    """Piped output is plain."""
    assert "\x1b[" not in printed(linear())
    assert "\x1b[" in printed(linear(), color=True)


def answered(answer: WhyNot, *missed: Missed) -> str:
    """Return what the terminal shows of an answer."""
    run, diff = linear()
    return printed(
        Example(run, msgspec.structs.replace(diff, why_not=answer, missed=missed)), width=140
    )


PLACE = Missed(
    rule="mm-add-to-addmm",
    left=("e0",),
    condition="product_has_one_user",
    why="The product has 2 users.",
    source="/work/cases/linear.py:12",
    launches=1,
    bytes_moved=2048,
)


def test_missed_places_of_one_condition_are_told_together() -> None:
    """The dearest one in full, with what it costs, and how many more there are."""
    run, diff = linear()
    text = printed(Example(run, msgspec.structs.replace(diff, missed=(PLACE, PLACE, PLACE))))
    assert text.count("The product has 2 users.") == 1
    assert "missed mm-add-to-addmm linear.py:12" in text
    assert "costs 1 kernel more and 2.00 KiB of memory traffic" in text
    assert "and 2 more where the same condition failed" in text


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (WhyNot(rule="a-rule", nothing="no aten::mm in the case"), "No aten::mm in the case."),
        (WhyNot(rule="a-rule", missed=(PLACE,)), "It applied nowhere, and nearly did in 1 place."),
        (
            WhyNot(rule="a-rule", applied=("r1",)),
            "It applied 1 time, and came near nowhere else. Where: r1.",
        ),
    ],
    ids=["nothing", "near", "applied"],
)
def test_an_answer_is_one_sentence(answer: WhyNot, sentence: str) -> None:
    """What the case lacks, or how often the rule applied and nearly did."""
    assert f"why not a-rule: {sentence}" in answered(answer)


def test_each_place_of_an_answer_is_shown_once() -> None:
    """Those of the rule that was asked about are not told as missed again."""
    text = answered(WhyNot(rule="mm-add-to-addmm", missed=(PLACE,)), PLACE)
    assert text.count("The product has 2 users.") == 1
    assert "near mm-add-to-addmm linear.py:12" in text
