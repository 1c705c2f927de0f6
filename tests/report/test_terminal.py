"""What the terminal shows after a run."""

import io

import msgspec
from rich.console import Console

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
