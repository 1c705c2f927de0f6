"""`compdiff archive compare`: any two runs."""

import json
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from compdiff.archive import Archive, Commit
from compdiff.cli import run_command
from compdiff.store import write_run
from tests.archive.runs import in_environment, measured_again
from tests.builders import timing
from tests.variants import golden, uncompiled

OLD, NEW = "ab" * 20, "cd" * 20
replace = msgspec.structs.replace


@pytest.fixture(name="folder")
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make an archive of two cases at two commits; at the second, linear has lost its addmm and is slower."""
    monkeypatch.setenv("COMPDIFF_ARCHIVE", str(tmp_path / "archive"))
    linear = replace(golden("linear"), timing=timing(1_000_000, 800_000))
    slower = replace(uncompiled(linear), timing=timing(1_000_000, 900_000))
    slower = in_environment(slower, torch="2.15.0")
    softmax = golden("softmax")
    with closing(Archive.create(str(tmp_path / "archive"))) as archive:
        for turn, commit, runs in ((1, OLD, (linear, softmax)), (2, NEW, (slower, softmax))):
            for run in runs:
                archive.add(measured_again(run, turn), commit=Commit(id=commit))
        archive.pin(archive.resolve(f"{OLD}:linear").id)
        archive.tag(archive.resolve(f"{OLD}:linear").id, "release")
    return tmp_path


def compare(*words: str) -> int:
    """Return the exit code."""
    return run_command(["archive", "compare", *words])


@pytest.mark.parametrize(
    "words",
    [
        (f"{OLD}:linear", f"{NEW}:linear"),
        (f"{OLD}:linear", NEW),
        (OLD[:8], f"{NEW[:8]}:linear"),
        (OLD, NEW, "--case", "linear"),
        ("pinned", NEW),
        ("release", "latest"),
        ("pinned:linear", "latest:linear"),
    ],
)
def test_references(
    folder: Path, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """Ids, commits, tags, `latest` and `pinned`; a case that is named once holds for both."""
    del folder
    assert compare(*words, "--format", "json") == 0

    found = json.loads(capsys.readouterr().out)
    assert found["case"] == "linear"
    assert found["quantities"]["op calls"] == [1, 2]
    assert found["changes"][0].startswith("mm-add-to-addmm (seeded-output) lost")
    assert found["time"] == "slower"
    assert found["time_ratio"][0] == pytest.approx(1.125, rel=1e-3)


def test_the_sentence_comes_first(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Then the eager sides, the time, the numbers, and what changed in full."""
    del folder
    assert compare("pinned", "latest") == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("torch 2.14.1+cu130 -> 2.15.0; mm-add-to-addmm")
    assert lines[1].strip() == "eager: the same 2 op calls"
    assert lines[2].strip().startswith("time slower: 1.125x the time before")
    assert any(line.split() == ["op", "calls", "1", "2", "changed"] for line in lines)
    assert any("lost rewrite mm-add-to-addmm" in line for line in lines)


def test_a_commit_of_several_cases(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Which of them is asked."""
    del folder
    assert compare(OLD, NEW) == 2

    assert "runs of 2 cases: linear, softmax" in capsys.readouterr().err


def test_files_need_no_archive(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run that was never added is compared with another, or with one of an archive."""
    write_run(golden("linear"), tmp_path / "a.json.gz")
    write_run(uncompiled(golden("linear")), tmp_path / "b.json.gz")
    nowhere = str(tmp_path / "none")

    files = str(tmp_path / "a.json.gz"), str(tmp_path / "b.json.gz")
    assert compare(*files, "--archive", nowhere) == 0
    assert "mm-add-to-addmm (seeded-output) lost" in capsys.readouterr().out
    assert compare(files[0], "latest", "--archive", nowhere) == 2


def test_a_file_with_a_run_of_the_archive(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The file says which case."""
    write_run(golden("linear"), folder / "a.json.gz")

    assert compare(str(folder / "a.json.gz"), "latest", "--format", "json") == 0

    found = json.loads(capsys.readouterr().out)
    assert (found["base"], found["quantities"]["op calls"]) == ("", [1, 2])
    assert found["new"]


def test_reports_are_written(folder: Path) -> None:
    """One of the compiled sides and one of the eager sides."""
    assert compare("pinned", "latest", "--out", str(folder / "out")) == 0

    for name in ("compiled", "eager"):
        assert (folder / "out" / name / "report.html").exists()
