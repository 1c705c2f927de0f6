"""`compdiff lock`: what stands in the file."""

from pathlib import Path

import msgspec
import pytest

from compdiff.cli import run_command
from compdiff.model import Failure
from compdiff.store import write_run
from tests.variants import golden, planned_golden, uncompiled


@pytest.fixture(name="folder", autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_run(golden("linear"), Path("cpu/linear/run.json.gz"))
    write_run(golden("mlp_geglu"), Path("cpu/mlp_geglu/run.json.gz"))
    write_run(planned_golden("mlp_geglu")[0], Path("h200/mlp_geglu/run.json.gz"))
    return tmp_path


def titles(path: Path) -> list[str]:
    """Return the titles of the stanzas of a lock."""
    return [line for line in path.read_text().splitlines() if line.startswith("[")]


def test_one_file_holds_several_targets(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Stanzas of other cases and targets stay; all are in order."""
    assert run_command(["lock", "--runs", "h200"]) == 0
    assert run_command(["lock", "--runs", "cpu"]) == 0

    assert capsys.readouterr().out.splitlines()[-1] == "compdiff.lock: 2 cases written"
    assert titles(folder / "compdiff.lock") == [
        "[linear on cpu]",
        "[mlp_geglu on cpu]",
        "[mlp_geglu on h200]",
    ]


def test_writing_again_changes_nothing(folder: Path) -> None:
    """The same runs give the same bytes."""
    assert run_command(["lock", "--runs", "cpu", "--lock", "a"]) == 0
    first = (folder / "a").read_bytes()

    assert run_command(["lock", "--runs", "cpu", "--lock", "a"]) == 0

    assert (folder / "a").read_bytes() == first


def test_a_selection_is_written(folder: Path) -> None:
    """`-k` keeps the stanzas of cases that do not fit as they are."""
    assert run_command(["lock", "--runs", "cpu"]) == 0
    write_run(uncompiled(golden("linear")), folder / "cpu/linear/run.json.gz")
    write_run(uncompiled(golden("mlp_geglu")), folder / "cpu/mlp_geglu/run.json.gz")
    before = (folder / "compdiff.lock").read_text().partition("[mlp_geglu")[2]

    assert run_command(["lock", "--runs", "cpu", "-k", "linear"]) == 0

    text = (folder / "compdiff.lock").read_text()
    assert "aten::addmm" not in text
    assert text.partition("[mlp_geglu")[2] == before


def test_a_run_that_ended_early_is_not_locked(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What it left is not what the case compiles to: exit code 2, and the others are written."""
    failed = msgspec.structs.replace(golden("linear"), failure=Failure(stage="run", message="x"))
    write_run(failed, folder / "cpu/linear/run.json.gz")

    assert run_command(["lock", "--runs", "cpu"]) == 2

    assert "not locked: linear ended in run" in capsys.readouterr().err
    assert titles(folder / "compdiff.lock") == ["[mlp_geglu on cpu]"]
