"""`compdiff archive init`: make an archive."""

import click

from compdiff.archive.location import create_location
from compdiff.archive.schema import VERSION
from compdiff.cli.archive.settings import archive_option


@click.command(name="init")
@archive_option
@click.option(
    "--blobs",
    default="",
    metavar="PLACE",
    help="Where the blobs of a database are kept: a folder, s3://bucket/folder or gs://bucket/folder.",
)
def command(location: str, blobs: str) -> int:
    """Make an archive, or bring an older one up to date; one that is up to date stays as it is."""
    from compdiff.cli.archive.lines import printable_text

    index, _, before = create_location(location, blobs)
    index.close()
    said = {
        None: f"made an archive: {index.name}",
        VERSION: f"an archive already, and up to date: {index.name}",
    }
    upgraded = f"brought from version {before} to {VERSION}: {index.name}"
    click.echo(printable_text(said.get(before, upgraded)))
    return 0
