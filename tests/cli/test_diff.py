"""`compdiff diff`."""

import json
from pathlib import Path

import msgspec
import pytest

from compdiff.cli import run_command
from compdiff.cli.diff import parse_side
from compdiff.model import CompileOptions, Environment, OpCall, Run
from compdiff.store import write_run
from tests.capture.stand_ins import empty_run
from tests.variants import golden, uncompiled


def two_sided(name: str, op: str, torch: str) -> Run:
    """Return a run with one op call on each side."""
    run = empty_run(name, OpCall(id=0, name="aten::mm"))
    right = msgspec.structs.replace(run.right, op_calls=(OpCall(id=0, name=op),))
    return msgspec.structs.replace(run, right=right, environment=Environment(torch=torch))


@pytest.fixture(name="pair")
def _pair(tmp_path: Path) -> tuple[str, str]:
    paths = tmp_path / "a.json.gz", tmp_path / "b.json.gz"
    write_run(two_sided("one", "aten::mm", "2.13.0"), paths[0])
    other = two_sided("one", "aten::addmm", "2.14.1")
    options = CompileOptions(mode="max-autotune", options={"freezing": True})
    write_run(msgspec.structs.replace(other, options=options), paths[1])
    return str(paths[0]), str(paths[1])


def test_sides_of_an_argument(pair: tuple[str, str]) -> None:
    """`:left` and `:right` choose a side; without one it is the compiled one."""
    assert parse_side(pair[0])[1] == "right"
    assert parse_side(f"{pair[0]}:left")[1] == "left"
    assert parse_side(f"{pair[0]}:right")[0].case.name == "one"


def test_writes_a_report(
    pair: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The comparison is a report like any other, without times that were not taken together."""
    assert run_command(["diff", *pair, "--out", str(tmp_path / "out")]) == 0
    (folder,) = (tmp_path / "out").iterdir()
    document = json.loads((folder / "diff.json").read_text())
    assert document["speedup"] is None
    assert document["comparison"]["unchanged"]["eager op call"] == 1
    assert document["unexplained"] == {"op_calls": 0, "kernels": 0}
    assert (folder / "report.html").exists()
    assert "2.13.0 -> 2.14.1" in capsys.readouterr().out


def test_changes_come_first_in_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was lost and what runs otherwise stand before the numbers, what is unchanged after them."""
    run = golden("linear")
    write_run(run, tmp_path / "a.json.gz")
    write_run(uncompiled(run), tmp_path / "b.json.gz")
    files = [str(tmp_path / name) for name in ("a.json.gz", "b.json.gz")]
    assert run_command(["diff", *files, "--out", str(tmp_path / "out")]) == 0
    text = capsys.readouterr().out
    parts = [
        "Changed: 1 split; 1 rewrite lost",
        "lost rewrite mm-add-to-addmm",
        "split linear.py:24",
    ]
    parts += ["Op calls", "unchanged 2 eager op calls", "report "]
    assert [text.find(part) for part in parts] == sorted(text.find(part) for part in parts)
    assert "different runs: not compared" in text


def test_equal_runs_are_told_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run compared with itself says so, and where the report is, and no more."""
    write_run(golden("training_step"), tmp_path / "a.json.gz")
    file = str(tmp_path / "a.json.gz")
    assert run_command(["diff", file, file, "--out", str(tmp_path / "out")]) == 0
    name, sentence, report = capsys.readouterr().out.splitlines()[:3]
    assert name == "training_step-against-training_step"
    assert sentence.strip() == (
        "Nothing changed: 19 op calls or kernels, 18 rewrites, 1 finding and 35 eager op calls are the same."
    )
    assert report.strip().startswith("report")


def test_empty_side(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A side on which nothing was captured is refused."""
    write_run(empty_run("one"), tmp_path / "a.json")
    file = str(tmp_path / "a.json")
    assert run_command(["diff", file, file, "--out", str(tmp_path / "out")]) == 2
    assert "without op calls" in capsys.readouterr().err
