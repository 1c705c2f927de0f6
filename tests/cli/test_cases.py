"""`compdiff cases`."""

from pathlib import Path

import pytest

from compdiff.cli import run_command
from compdiff.cli.cases import shipped_cases


def test_lists_the_shipped_cases(capsys: pytest.CaptureFixture[str]) -> None:
    """Without arguments all shipped cases are listed, each with what it shows."""
    assert run_command(["cases"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(list(shipped_cases().rglob("*.py")))
    assert all(len(line.split(".py", 1)[1].strip()) > 10 for line in lines)


def test_lists_a_folder_without_running_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder's cases are listed relative to here, and none is executed."""
    monkeypatch.chdir(tmp_path)
    Path("one.py").write_text('"""Shows."""\nraise SystemExit\nfn = 1\ninputs = 2\n')
    assert run_command(["cases", "."]) == 0
    assert capsys.readouterr().out == "one.py  Shows.\n"
