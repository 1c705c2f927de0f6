"""`compdiff report`."""

from pathlib import Path

import msgspec
import pytest

from compdiff.cli import run_command
from compdiff.model import Expectation, OpCall
from compdiff.store import write_run
from tests.capture.stand_ins import empty_run


@pytest.fixture(name="run_file")
def _run_file(tmp_path: Path) -> Path:
    path = tmp_path / "one" / "run.json.gz"
    write_run(empty_run("one", OpCall(id=0, name="</script><img src=x>")), path)
    return path


def test_renders_beside_the_run(run_file: Path) -> None:
    """The derived files are written beside the run, which stays as it was."""
    before = run_file.read_bytes()
    assert run_command(["report", str(run_file)]) == 0
    names = {path.name for path in run_file.parent.iterdir()}
    assert names == {"run.json.gz", "report.html", "summary.md", "diff.json"}
    assert run_file.read_bytes() == before


def test_a_folder_names_its_run(run_file: Path) -> None:
    """The folder of a run does for its file."""
    assert run_command(["report", str(run_file.parent)]) == 0
    assert (run_file.parent / "report.html").exists()


def test_renders_elsewhere(run_file: Path, tmp_path: Path) -> None:
    """--out takes the files, and the folder of the run stays as it was."""
    assert run_command(["report", str(run_file), "--out", str(tmp_path / "new")]) == 0
    assert {path.name for path in run_file.parent.iterdir()} == {"run.json.gz"}
    assert (tmp_path / "new" / "report.html").exists()


def test_hostile_names_stay_text(run_file: Path) -> None:
    """A name that looks like a tag is shown, not obeyed."""
    run_command(["report", str(run_file)])
    page = (run_file.parent / "report.html").read_text()
    assert "<img src=x>" not in page


def test_rendering_twice_gives_equal_files(run_file: Path) -> None:
    """The page is a function of the run alone."""
    run_command(["report", str(run_file)])
    before = (run_file.parent / "report.html").read_bytes()
    run_command(["report", str(run_file)])
    assert (run_file.parent / "report.html").read_bytes() == before


def test_failed_expectation_is_exit_1(run_file: Path) -> None:
    """A saved run that breaks its own expectation is exit code 1 again."""
    expectation = Expectation(rules=("mm-add-to-addmm",))
    write_run(msgspec.structs.replace(empty_run("one"), expectation=expectation), run_file)
    assert run_command(["report", str(run_file)]) == 1


def test_not_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Any other file is refused by name with exit code 2."""
    path = tmp_path / "trace.json"
    path.write_text('{"traceEvents": []}')
    assert run_command(["report", str(path)]) == 2
    assert f"Error: {path}: not a compdiff run" in capsys.readouterr().err


def test_why_not_is_answered(run_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The answer is printed and stands in the derived files."""
    assert run_command(["report", str(run_file), "--why-not", "mm-add-to-addmm"]) == 0
    assert "why not mm-add-to-addmm:" in capsys.readouterr().out
    assert '"rule": "mm-add-to-addmm"' in (run_file.parent / "diff.json").read_text()


def test_an_unknown_rule_is_exit_2_with_close_names(
    run_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A typing error is found before anything is written."""
    assert run_command(["report", str(run_file), "--why-not", "mm-add-addmm"]) == 2
    told = capsys.readouterr().err
    assert "--why-not mm-add-addmm: no such rule" in told
    assert "Did you mean mm-add-to-addmm" in told
    assert {path.name for path in run_file.parent.iterdir()} == {"run.json.gz"}
