"""Prints summaries. In: the outputs of a run. Out: text on stdout, coloured on a terminal."""

from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from compdiff.report import Outputs
    from compdiff.report.ladder_view import LadderPage
    from compdiff.report.view import Page

# Wide enough for a table row when piped, where rich would assume 80 columns.
_PIPED_WIDTH = 120


def print_summary(outputs: "Outputs") -> None:
    """Print what was found, and where the report is."""
    print_page(outputs.page, outputs.html)


def print_page(page: "Page", report: Path | None = None) -> None:
    """Print what was found, and where the report is if there is one."""
    from compdiff.report.terminal import terminal_summary

    console().print(terminal_summary(page, report))


def print_tree(outputs: "Outputs") -> None:
    """Print every op call with what it became, and where the report is."""
    from compdiff.report.tree import terminal_tree

    # A line of a tree that is broken loses its guides, and what searches a pipe wants whole lines.
    console().print(terminal_tree(outputs.page, outputs.html), soft_wrap=True)


def print_ladder(page: "LadderPage", html: Path) -> None:
    """Print the rungs of a case, and where their page is."""
    from compdiff.report.ladder_terminal import terminal_ladder

    console().print(terminal_ladder(page, html))


def console() -> Console:
    """Return a console on stdout that is wide enough when piped."""
    shown = Console(soft_wrap=False, highlight=False)
    if shown.is_terminal:
        return shown
    return Console(soft_wrap=False, highlight=False, width=_PIPED_WIDTH)
