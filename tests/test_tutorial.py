"""docs/tutorial.md: its commands run in their order, and what it shows of their output is what they print."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from compdiff.cli import run_command

ROOT = Path(__file__).resolve().parents[1]
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Times are measured, and so differ; estimates do not.
_MEASURED = re.compile(
    r"; (\d[\d.]*x (faster|slower)|as fast within noise|speed unclear) \([^)]*\)"
)
# A terminal breaks lines where it ends, and a tree has its branches before them.
_BRANCHES = str.maketrans("│├└─", "    ")


def blocks() -> list[tuple[str, str]]:
    """Return the fenced blocks of the tutorial, each with the word after its fence."""
    text = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    return [(match[1], match[2]) for match in _BLOCK.finditer(text)]


def steps() -> list[tuple[str, str]]:
    """Return (command, the output that the tutorial shows for it) in order."""
    found: list[tuple[str, str]] = []
    for kind, text in blocks():
        if kind == "console":
            found.append((text.strip().removeprefix("$ "), ""))
        elif not kind:
            command, shown = found[-1]
            found[-1] = (command, shown + text)
    return found


def case() -> str:
    """Return the case that the reader is asked to save."""
    return next(text for kind, text in blocks() if kind == "python" and "three dimensions" in text)


def flat(text: str) -> str:
    """Return a text as one line, without what differs from run to run."""
    return _MEASURED.sub("", " ".join(text.translate(_BRANCHES).split()))


def run(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Run a command of the tutorial and return what it prints."""
    words = shlex.split(command)
    if words[0] == "python":
        result = subprocess.run(  # noqa: S603 - the tutorial's own words
            [sys.executable, *words[1:]],
            env={"PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        )
        return result.stdout
    assert run_command(words[1:]) == 0, command
    return capsys.readouterr().out


def test_the_tutorial_has_commands() -> None:
    """It is read as it is meant."""
    assert len(steps()) > 8
    assert all(command.startswith(("compdiff ", "python ")) for command, _ in steps())


@pytest.mark.measured
@pytest.mark.skipif(not torch.version.cuda, reason="plans need the CUDA build of torch")
def test_the_tutorial_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each command succeeds, and each line that is shown has been printed."""
    monkeypatch.chdir(tmp_path)
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "cases").symlink_to(ROOT / "cases")
    (tmp_path / "three_dims.py").write_text(case())
    printed = ""  # of all commands so far: the tutorial comes back to what one printed
    for command, shown in steps():
        printed += f"{flat(run(command, capsys))} "
        lines = [flat(line) for line in shown.splitlines() if line != "..."]
        assert [line for line in lines if line not in printed] == [], command
