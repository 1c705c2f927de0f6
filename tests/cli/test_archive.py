"""`compdiff archive`: as a user types it."""

import json
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from compdiff.archive import Archive, Commit
from compdiff.cli import run_command
from compdiff.cli.archive import COMMANDS
from compdiff.store import read_run, write_run
from tests.archive.runs import golden, in_environment, measured_again
from tests.builders import timing


@pytest.fixture(name="folder")
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make an archive of three runs of a case, of which the last is of another torch."""
    monkeypatch.setenv("COMPDIFF_ARCHIVE", str(tmp_path / "archive"))
    for turn in (1, 2, 3):
        run = in_environment(golden(), torch="2.14.0" if turn == 3 else "2.13.0", host="here")
        write_run(measured_again(run, turn * 3600), tmp_path / f"out{turn}" / "one" / "run.json.gz")
    assert archive("init") == 0
    assert archive("add", *(str(tmp_path / f"out{turn}") for turn in (1, 2, 3))) == 0
    return tmp_path


def archive(*words: str) -> int:
    """Return the exit code of an archive command."""
    return run_command(["archive", *words])


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each command is there and explains itself."""
    assert archive(name, "--help") == 0
    assert "Usage:" in capsys.readouterr().out


def test_list_filters(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A line a run, newest first, or JSON with all that the index holds."""
    del folder
    capsys.readouterr()

    assert archive("list", "--torch", ">=2.14", "--format", "json") == 0
    (entry,) = json.loads(capsys.readouterr().out)
    assert (entry["torch"], entry["host"], entry["case"]) == ("2.14.0", "here", "linear")

    assert archive("list", "--case", "linear", "-n", "2") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [" 03:00 " in lines[1], " 02:00 " in lines[2]] == [True, True]
    assert "more than 2" in lines[3]


def test_history_marks_what_changed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Oldest first; the line of the other torch says so."""
    del folder
    capsys.readouterr()

    assert archive("history", "linear") == 0

    lines = capsys.readouterr().out.splitlines()
    assert "torch" not in lines[3]
    assert "torch 2.13.0 -> 2.14.0" in lines[4]


def test_show_writes_the_same_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is written out is the run that was added, with its reports."""
    assert archive("show", "latest:linear") == 0
    assert "mm-add-to-addmm" in capsys.readouterr().out

    assert archive("show", "latest", "--out", str(folder / "shown")) == 0
    assert read_run(folder / "shown" / "run.json.gz") == read_run(
        folder / "out3" / "one" / "run.json.gz"
    )
    assert (folder / "shown" / "report.html").exists()


def test_pins_and_tags(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A pinned run stays when all others go, and keeps who and why."""
    del folder
    assert archive("tag", "latest", "good") == 0
    assert archive("pin", "good:linear", "--why", "it is", "--by", "me") == 0
    assert archive("prune", "--keep", "0") == 0
    capsys.readouterr()

    assert archive("show", "pinned") == 0
    assert "good, pinned, pinned by me: it is" in capsys.readouterr().out
    assert archive("list", "--format", "json") == 0
    assert len(json.loads(capsys.readouterr().out)) == 1


def test_a_dry_run_removes_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It says what would go."""
    del folder
    capsys.readouterr()

    assert archive("prune", "--older-than", "1d", "--keep", "2", "--dry-run") == 0
    assert len(capsys.readouterr().out.splitlines()) == 1
    assert archive("list", "-n", "9") == 0
    assert len(capsys.readouterr().out.splitlines()) == 4


def test_runs_move(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What export wrote, import reads; a second time nothing is new."""
    file, other = str(folder / "runs.zip"), str(folder / "other")
    assert archive("export", "--all", file) == 0
    assert archive("init", "--archive", other) == 0
    for new in ("3 new runs", "0 new runs"):
        capsys.readouterr()
        assert archive("import", file, "--archive", other) == 0
        assert f"{new} of 3" in capsys.readouterr().out
    assert archive("verify", "--archive", other) == 0


def test_verify_names_damage(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A blob that is gone is exit code 1, and a line for each run that needs it."""
    blobs = [path for path in (folder / "archive" / "blobs").rglob("*") if path.is_file()]
    for path in blobs:
        path.unlink()
    capsys.readouterr()

    assert archive("verify") == 1
    assert capsys.readouterr().out.count("is missing") == 3


@pytest.mark.parametrize(
    "words",
    [
        ["add", "nothing.json.gz"],
        ["add", "."],
        ["list", "--torch", "?"],
        ["list", "--since", "never"],
        ["list", "--param", "x"],
        ["list", "--commit", "xyz"],
        ["history", "none"],
        ["show", "nothing"],
        ["tag", "latest", "a:b"],
        ["prune", "--older-than", "2 days"],
        ["export", "runs.zip"],
        ["import", "nothing.zip"],
        ["init", "--blobs", "s3://x/y"],
        ["init", "--archive", "mysql://x/y"],
        ["list", "--archive", "nowhere"],
    ],
)
def test_what_cannot_be_is_exit_2(
    folder: Path,
    words: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each is a sentence on stderr, and no traceback."""
    (folder / "empty").mkdir()
    monkeypatch.chdir(folder / "empty")
    capsys.readouterr()

    assert archive(*words) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_history_says_since_when_it_is_slower(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Six runs at one level and six at another: the first of the second level is named, with its commit."""
    place = str(tmp_path / "archive")
    with closing(Archive.create(place)) as store:
        for turn in range(12):
            run = msgspec.structs.replace(
                golden(), timing=timing(1_000_000, 800_000 if turn < 6 else 900_000)
            )
            store.add(measured_again(run, turn), commit=Commit(id=f"{turn:02x}" * 20))

    assert archive("history", "linear", "--archive", place) == 0

    (line,) = [text for text in capsys.readouterr().out.splitlines() if "times eager mode" in text]
    assert "commit 0606060606: 0.90" in line
    assert line.endswith("% (6 runs)")
    assert " times eager mode, +12." in line
