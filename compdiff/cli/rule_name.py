"""The option --why-not of several commands. In: a rule's name. Out: the name, if there is such a rule."""

from difflib import get_close_matches

import click

from compdiff.errors import CompdiffError

_SHOWN = 3


def checked(_: click.Context, __: click.Parameter, name: str) -> str:
    """Return the name of a rule; "" where none is asked about.

    Raises:
        CompdiffError: there is no such rule; the hint names those that read like it.
    """
    from compdiff.rewrites import RULE_NAMES

    if not name or name in RULE_NAMES:
        return name
    close = get_close_matches(name, sorted(RULE_NAMES), n=_SHOWN, cutoff=0.4)
    hint = f"Did you mean {', '.join(close)}? " if close else ""
    message = f"--why-not {name}: no such rule"
    raise CompdiffError(message, f"{hint}compdiff explain lists all.")


why_not_option = click.option(
    "--why-not",
    "why_not",
    default="",
    metavar="RULE",
    callback=checked,
    help="Say for each place where this rule nearly applied which condition failed.",
)
