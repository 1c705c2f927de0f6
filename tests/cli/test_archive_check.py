"""`compdiff archive check`: the newest runs against the pinned ones."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from compdiff.archive import Archive
from compdiff.cli import run_command
from compdiff.model import Run
from tests.archive.runs import measured_again
from tests.builders import timing
from tests.variants import golden, planned_golden, uncompiled


@pytest.fixture(name="archive")
def _archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Archive]:
    """Make an archive with a pinned run of linear, and a plan."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COMPDIFF_ARCHIVE", str(tmp_path / "archive"))
    with closing(Archive.create(str(tmp_path / "archive"))) as archive:
        archive.pin(archive.add(timed(1)))
        archive.add(planned_golden("softmax")[0])
        yield archive


def timed(turn: int, compiled_ns: int = 800_000) -> Run:
    """Return a run of linear."""
    run = msgspec.structs.replace(golden("linear"), timing=timing(1_000_000, compiled_ns))
    return measured_again(run, turn)


def check(*words: str) -> int:
    """Return the exit code."""
    return run_command(["archive", "check", *words])


def test_equal_runs_pass(archive: Archive, capsys: pytest.CaptureFixture[str]) -> None:
    """What has no pinned run is named."""
    archive.add(timed(2))

    assert check() == 0

    out = capsys.readouterr().out
    assert "passed  linear  on cpu  time same: 1.00" in out
    assert "no run of softmax on h200 is pinned: not checked" in out


@pytest.mark.parametrize(
    ("run", "line"),
    [
        (uncompiled(timed(2)), "mm-add-to-addmm (seeded-output) lost"),
        (timed(2, 900_000), "slower by 12.5 %"),
    ],
)
def test_a_regression_fails(
    archive: Archive, run: Run, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A lost rewrite and a slowdown, in the table and in the files."""
    archive.add(run)

    assert check("--sarif", "s.json", "--case", "linear") == 1

    assert line in capsys.readouterr().out
    (log,) = json.loads(Path("s.json").read_text(encoding="utf-8"))["runs"]
    assert line in log["results"][0]["message"]["text"]


def test_another_baseline(archive: Archive) -> None:
    """A tag means other runs than the pinned ones."""
    slow = archive.add(timed(2, 900_000))
    archive.tag(slow, "slow")
    archive.add(timed(3, 900_000))

    assert check() == 1
    assert check("--baseline", "slow") == 0


def test_an_empty_selection_is_an_error(
    archive: Archive, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing passes by mistake."""
    del archive
    assert check("--case", "none") == 2

    assert "no run fits" in capsys.readouterr().err
