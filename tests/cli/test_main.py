"""The group: help, version, and errors printed once."""

import subprocess
import sys

import pytest

from compdiff import __version__
from compdiff.cli import COMMANDS, LazyGroup, compdiff, run_command


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    """--version prints the version and exits with 0."""
    assert run_command(["--version"]) == 0
    assert __version__ in capsys.readouterr().out


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each listed command exists and explains itself."""
    assert run_command([name, "--help"]) == 0
    assert "Usage:" in capsys.readouterr().out


def test_commands_are_named_as_listed() -> None:
    """The lazy table and the modules agree."""
    assert isinstance(compdiff, LazyGroup)
    context = compdiff.make_context("compdiff", [], resilient_parsing=True)
    for name in COMMANDS:
        command = compdiff.get_command(context, name)
        assert command is not None
        assert command.name == name


@pytest.mark.parametrize(
    "arguments", [["nonsense"], ["run"], ["run", "--nonsense", "x"], ["run", "x", "--timeout", "0"]]
)
def test_usage_errors(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong call exits with 2 and says so on stderr."""
    assert run_command(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Usage:" in captured.err


def test_errors_have_message_and_hint(capsys: pytest.CaptureFixture[str]) -> None:
    """An error of compdiff's is printed once, with what to do."""
    assert run_command(["report", "absent.json.gz"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("Error: cannot read absent.json.gz")
    assert lines[1].startswith("Hint: ")
    assert len(lines) == 2


def test_module_entry() -> None:
    """`python -m compdiff` works, and its exit code is the command's."""
    command = [sys.executable, "-m", "compdiff", "report", "absent"]
    assert subprocess.run(command, check=False, capture_output=True).returncode == 2  # noqa: S603
