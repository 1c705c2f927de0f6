"""`compdiff archive`: commands on an archive of runs, each a module of its own that is imported when it is called."""

import click

from compdiff.cli import LazyGroup

COMMANDS = {
    "add": "Keep runs.",
    "compare": "Say what changed between any two runs.",
    "export": "Write runs as one file, for another archive.",
    "history": "Show how the runs of a case changed, one line a run.",
    "import": "Add the runs of a file that export wrote.",
    "init": "Make an archive, or bring an older one up to date.",
    "list": "List runs, newest first.",
    "pin": "Keep a run for good, as one to compare with.",
    "prune": "Remove old runs, and what killed writers left.",
    "show": "Show a run as `compdiff report` does, or write its files.",
    "site": "Write the archive as pages that need no server.",
    "tag": "Give a run a name.",
    "verify": "Prove that nothing is damaged, or name what is.",
}
# Modules that cannot be named as their command is: words of Python.
_MODULES = {"import": "import_file", "list": "list_runs"}


@click.group(
    name="archive",
    cls=LazyGroup,
    table=COMMANDS,
    package="compdiff.cli.archive",
    modules=_MODULES,
    context_settings={"help_option_names": ["-h", "--help"]},
)
def command() -> None:
    """Keep runs, find them again, and see how they changed.

    An archive is a folder (--archive, or COMPDIFF_ARCHIVE), or the URL of a database.
    RUN is an id or commit (4 digits or more), a tag, `latest` or `pinned`, each also as RUN:CASE.
    """
