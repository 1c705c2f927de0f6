"""`compdiff archive pin`: keep a run for good."""

import getpass

import click

from compdiff.cli.archive.settings import archive_option, opened


@click.command(name="pin")
@click.argument("reference", metavar="RUN")
@archive_option
@click.option("--why", default="", help="For what reason.")
@click.option("--by", default="", help="Who says so [the user's name].")
@click.option("--remove", is_flag=True, help="Take the pin away.")
def command(reference: str, *, location: str, why: str, by: str, remove: bool) -> int:
    """Keep RUN for good, as one to compare with: `pinned` and `pinned:CASE` mean the newest such run."""
    with opened(location) as archive:
        entry = archive.resolve(reference)
        if remove:
            archive.unpin(entry.id)
        else:
            archive.pin(entry.id, by=by or _user(), why=why)
    click.echo(f"{entry.id[:12]}  {'not pinned' if remove else 'pinned'}")
    return 0


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user without a name, as in some containers
        return ""
