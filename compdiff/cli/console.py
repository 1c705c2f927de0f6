"""Prints summaries. In: the outputs of a run. Out: text on stdout, coloured on a terminal."""

from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from compdiff.report import Outputs
    from compdiff.report.view import Page

# Wide enough for a table row when piped, where rich would assume 80 columns.
_PIPED_WIDTH = 120


def print_summary(outputs: "Outputs") -> None:
    """Print what was found, and where the report is."""
    print_page(outputs.page, outputs.html)


def print_page(page: "Page", report: Path | None = None) -> None:
    """Print what was found, and where the report is if there is one."""
    from compdiff.report.terminal import terminal_summary

    console = Console(soft_wrap=False, highlight=False)
    if not console.is_terminal:
        console = Console(soft_wrap=False, highlight=False, width=_PIPED_WIDTH)
    console.print(terminal_summary(page, report))
