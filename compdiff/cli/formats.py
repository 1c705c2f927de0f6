"""The option --format. In: the outputs of a run. Out: one of them on stdout, and nothing else there."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from compdiff.report import Outputs


def print_outputs(outputs: "Outputs", form: str) -> None:
    """Print the outputs of a run in a format of FORMATS; where its report is goes to stderr if it is not part of it."""
    FORMATS[form](outputs)
    if form not in _WITH_PATH:
        click.echo(f"report {outputs.html}", err=True)


def _summary(outputs: "Outputs") -> None:
    from compdiff.cli.console import print_summary

    print_summary(outputs)


def _tree(outputs: "Outputs") -> None:
    from compdiff.cli.console import print_tree

    print_tree(outputs)


def _document(outputs: "Outputs") -> None:
    click.echo(outputs.document.read_bytes(), nl=False)


def _markdown(outputs: "Outputs") -> None:
    click.echo(outputs.summary.read_bytes(), nl=False)


def _page(outputs: "Outputs") -> None:
    click.echo(outputs.html.read_bytes(), nl=False)


FORMATS: "dict[str, Callable[[Outputs], None]]" = {
    "summary": _summary,
    "text": _tree,
    "json": _document,
    "md": _markdown,
    "html": _page,
}
"""What can be printed, by the name that --format takes."""
DEFAULT_FORMAT = "summary"
_WITH_PATH = frozenset({"summary", "text"})

format_option = click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMATS)),
    default=DEFAULT_FORMAT,
    show_default=True,
    help="What stdout gets: a summary, all op calls as a tree, or one of the files.",
)
