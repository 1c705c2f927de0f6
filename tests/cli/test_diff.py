"""`compdiff diff`."""

import json
from pathlib import Path

import msgspec
import pytest

from compdiff.cli import run_command
from compdiff.cli.diff import combined, parse_side
from compdiff.errors import CompdiffError
from compdiff.model import CompileOptions, Environment, OpCall, Run
from compdiff.store import write_run
from tests.capture.stand_ins import empty_run


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


def test_right_sides_by_default(pair: tuple[str, str]) -> None:
    """Without a side the compiled ones are compared."""
    run = combined(parse_side(pair[0]), parse_side(pair[1]))
    assert run.left.op_calls[0].name == "aten::mm"
    assert run.right.op_calls[0].name == "aten::addmm"


def test_named_sides(pair: tuple[str, str]) -> None:
    """`:left` and `:right` choose a side."""
    run = combined(parse_side(f"{pair[1]}:left"), parse_side(f"{pair[0]}:right"))
    assert run.left.label == "one eager"
    assert run.right.label == "one compiled"


def test_differences_are_warnings(pair: tuple[str, str]) -> None:
    """What differs in environment and options stands on the run."""
    run = combined(parse_side(pair[0]), parse_side(pair[1]))
    texts = [warning.text for warning in run.warnings]
    assert "environment: torch: 2.13.0 -> 2.14.1" in texts
    assert "options: mode: None -> max-autotune" in texts
    assert "options: options.freezing: absent -> True" in texts


def test_writes_a_report(
    pair: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The comparison is a report like any other, without times that were not taken together."""
    assert run_command(["diff", *pair, "--out", str(tmp_path / "out")]) == 0
    (folder,) = (tmp_path / "out").iterdir()
    document = json.loads((folder / "diff.json").read_text())
    assert document["speedup"] is None
    assert (folder / "report.html").exists()
    assert "2.13.0 -> 2.14.1" in capsys.readouterr().out


def test_empty_side(tmp_path: Path) -> None:
    """A side on which nothing was captured is refused."""
    write_run(empty_run("one"), tmp_path / "a.json")
    side = parse_side(str(tmp_path / "a.json"))
    with pytest.raises(CompdiffError, match="without op calls"):
        combined(side, side)
