"""`compdiff archive verify`: is anything damaged?"""

import click

from compdiff.archive.verify import verify
from compdiff.cli.archive.lines import printable_text
from compdiff.cli.archive.settings import archive_option, opened


@click.command(name="verify")
@archive_option
def command(location: str) -> int:
    """Read all of an archive and compare it with its hashes; exit code 1 names what is damaged."""
    from compdiff.report.quantities import count_text, size_text

    with opened(location) as archive:
        found = verify(archive)
    for damage in found.damage:
        name = f" {damage.name}" if damage.name else ""
        click.echo(printable_text(f"{damage.what}{name}: {damage.text}"))
    if found.leftovers:
        leftovers = count_text(found.leftovers, "blob")
        click.echo(
            f"{leftovers} ({size_text(found.leftover_bytes)}) belong to no run: of a writer at work, or of one that "
            "was killed; `compdiff archive prune` removes those."
        )
    blobs = count_text(found.blobs, "blob")
    said = f"damaged: {len(found.damage)}" if found.damage else "nothing is damaged"
    click.echo(f"{count_text(found.runs, 'run')} in {blobs} ({size_text(found.bytes)}): {said}.")
    return int(not found.is_sound)
