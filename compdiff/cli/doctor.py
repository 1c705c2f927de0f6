"""`compdiff doctor`: what this machine can do."""

import click

from compdiff.doctor import examine


@click.command(name="doctor")
def command() -> int:
    """Say what this machine can do, and what to do about each lack.

    Exits with 0 when cases can run on the CPU, else with 1.
    """
    checks = examine()
    width = max(len(check.name) for check in checks)
    for check in checks:
        click.echo(f"{'ok ' if check.fine else '-- '} {check.name:{width}}  {check.found}")
        if not check.fine:
            click.echo(f"    {'':{width}} {check.advice}")
    return 0 if all(check.fine for check in checks if check.needed) else 1
