"""`compdiff targets`."""

from pathlib import Path

import pytest

from compdiff.cli import run_command
from compdiff.targets import TARGETS, find_target


def test_lists_all(capsys: pytest.CaptureFixture[str]) -> None:
    """One line for each target, after the head."""
    assert run_command(["targets"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(TARGETS)


def test_prints_a_file_that_can_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What --json prints is a target file."""
    assert run_command(["targets", "--json", "l4"]) == 0
    path = tmp_path / "l4.json"
    path.write_text(capsys.readouterr().out)
    assert find_target(str(path)) == TARGETS["l4"]


def test_names_sources(capsys: pytest.CaptureFixture[str]) -> None:
    """--sources says where the figures are from."""
    run_command(["targets", "--sources", "b200"])
    assert "datasheet" in capsys.readouterr().out


def test_unknown_name_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    """A name that is not there ends with 2."""
    assert run_command(["targets", "h300"]) == 2
    assert "h300" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--target", "h300"], "no such target"),
        (["--target", "h200", "--device", "cpu"], "--device cpu measures"),
        (["--jobs", "2"], "--jobs"),
    ],
)
def test_run_refuses_what_does_not_fit(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A plan and a measurement are told apart before any case runs."""
    assert run_command(["run", "none.py", *arguments]) == 2
    assert words in capsys.readouterr().err
