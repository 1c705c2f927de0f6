"""The command line. In: arguments. Out: exit code 0, 1 or 2.

Each command is a module of its own, imported when it is called.
"""

import importlib
import sys
import traceback
from collections.abc import Mapping
from typing import Any

import click

from compdiff import __version__
from compdiff.errors import CompdiffError

COMMANDS = {
    "archive": "Keep runs, find them again, and see how they changed.",
    "bisect": "Find the commit since which a case is another.",
    "cases": "List cases with what they show.",
    "check": "Fail when a case is not what compdiff.lock and the baseline say.",
    "diff": "Compare any two sides of any two runs.",
    "doctor": "Say what this machine can do, and what to do about each lack.",
    "explain": "Explain a rule or a finding.",
    "numerics": "Say why the outputs of a compiled case differ from eager mode's.",
    "import": "Read profiler traces of an eager and a compiled run, from any GPU, and compare them.",
    "lock": "Write what torch.compile makes of each case into compdiff.lock.",
    "open": "Show a report in the browser.",
    "report": "Write the report of a saved run again, without running anything.",
    "targets": "List the GPUs that a case can be planned for without having one.",
    "run": "Measure cases in eager mode and under torch.compile, and show what was rewritten.",
}
# Modules that cannot be named as their command is: a word of Python.
_MODULES = {"import": "import_traces"}
_INTERRUPTED = 130


class LazyGroup(click.Group):
    """A group whose commands are imported only when they are called, so that --help stays fast.

    `table` says what each command does, `package` which package holds a module for each, and `modules` how a module is
    called where it cannot be called as its command.
    """

    def __init__(
        self,
        *,
        table: Mapping[str, str],
        package: str,
        modules: Mapping[str, str],
        **settings: Any,  # noqa: ANN401 - click's own settings
    ) -> None:
        super().__init__(**settings)
        self._table = table
        self._package = package
        self._modules = modules

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return sorted(self._table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name, imported now."""
        if cmd_name not in self._table:
            return None
        module = self._modules.get(cmd_name, cmd_name)
        command = importlib.import_module(f"{self._package}.{module}").command
        return command if isinstance(command, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(sorted(self._table.items()))


@click.group(
    cls=LazyGroup,
    table=COMMANDS,
    package="compdiff.cli",
    modules=_MODULES,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="compdiff")
def compdiff() -> None:
    """Show what torch.compile did to a function.

    Exit codes: 0 fine, 1 an expectation failed, 2 usage or tool error.
    """


def main(args: list[str] | None = None) -> None:
    """Run the command line and exit."""
    sys.exit(run_command(args))


def run_command(args: list[str] | None = None, **settings: Any) -> int:  # noqa: ANN401 - click's own settings
    """Run one command line and return its exit code; every compdiff error is printed here, once."""
    try:
        result = compdiff.main(args=args, standalone_mode=False, **settings)
    except CompdiffError as error:
        print_error(error)
        return error.exit_code
    except click.ClickException as error:
        error.show()
        return 2
    except (KeyboardInterrupt, click.Abort):
        click.echo("Interrupted: nothing half-written is left.", err=True)
        return _INTERRUPTED
    except Exception as error:  # noqa: BLE001 - Python's exit code 1 would say that an expectation failed
        print_bug(error)
        return 2
    return result if isinstance(result, int) else 0


def print_bug(error: Exception) -> None:
    """Print the traceback of an error that nothing in compdiff raises on purpose."""
    traceback.print_exception(error)
    print_error(
        CompdiffError(
            f"{type(error).__name__}: {error}",
            "This is a bug in compdiff; please report it with the traceback above.",
        )
    )


def print_error(error: CompdiffError) -> None:
    """Print an error and its hint to stderr."""
    click.echo(f"Error: {error.message}", err=True)
    if error.hint:
        click.echo(f"Hint: {error.hint}", err=True)
