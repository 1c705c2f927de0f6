"""`compdiff cases`: list cases with the first line of their docstring."""

from pathlib import Path

import click

import compdiff
from compdiff.case import case_files


@click.command(name="cases")
@click.argument("paths", nargs=-1)
def command(paths: tuple[str, ...]) -> int:
    """List the cases in PATHS (default: the shipped ones) with what each shows."""
    cases = case_files(paths or (str(shipped_cases()),))
    width = max(len(_shown(case.path)) for case in cases)
    for case in cases:
        click.echo(f"{_shown(case.path):{width}}  {case.summary}".rstrip())
    return 0


def shipped_cases() -> Path:
    """Return the folder of the shipped cases: in the package, or beside it in a checkout."""
    package = Path(compdiff.__file__).resolve().parent
    inside = package / "cases"
    return inside if inside.is_dir() else package.parent / "cases"


def _shown(file: Path) -> str:
    """Return the path as one would type it from here."""
    here = Path.cwd()
    resolved = file.resolve()
    return str(resolved.relative_to(here)) if resolved.is_relative_to(here) else str(file)
