"""`compdiff archive tag`: name a run."""

import click

from compdiff.cli.archive.settings import archive_option, opened


@click.command(name="tag")
@click.argument("reference", metavar="RUN")
@click.argument("name")
@archive_option
@click.option("--remove", is_flag=True, help="Take the tag away.")
def command(reference: str, name: str, *, location: str, remove: bool) -> int:
    """Give RUN a NAME. Several runs may have one; of one case the newest is meant."""
    with opened(location) as archive:
        entry = archive.resolve(reference)
        change = archive.untag if remove else archive.tag
        change(entry.id, name)
    click.echo(f"{entry.id[:12]}  {'not ' if remove else ''}{name}")
    return 0
