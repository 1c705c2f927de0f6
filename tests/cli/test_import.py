"""`compdiff import`: files in, report out, without torch."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from compdiff.cli import run_command
from tests.importers.traces import DATA

H100, MI300 = DATA / "tl-h100-bert-small.json.gz", DATA / "tl-mi300-bert-small.json.gz"


def test_writes_the_files_of_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same files as for a measured run, and the same summary."""
    assert (
        run_command(["import", str(H100), str(MI300), "--name", "bert", "--out", str(tmp_path)])
        == 0
    )
    assert {path.name for path in (tmp_path / "bert").iterdir()} == {
        "run.json.gz",
        "report.html",
        "summary.md",
        "diff.json",
    }
    document = json.loads((tmp_path / "bert" / "diff.json").read_text())
    assert document["left"]["basis"] == "imported"
    assert document["left"]["kernels"] == 61
    assert "173 = 173 kept + 0 unexplained" in capsys.readouterr().out


def test_one_trace_is_shown(tmp_path: Path) -> None:
    """Without a second trace there is nothing to compare with, and nothing is unexplained."""
    path = DATA / "tl-torch-compile-triton.json.gz"
    assert run_command(["import", str(path), "--name", "one", "--out", str(tmp_path)]) == 0
    document = json.loads((tmp_path / "one" / "diff.json").read_text())
    assert document["unexplained"] == {"op_calls": 0, "kernels": 0}


def test_a_report_can_be_made_again(tmp_path: Path) -> None:
    """An imported run is a run like any other."""
    run_command(["import", str(H100), str(MI300), "--name", "bert", "--out", str(tmp_path)])
    before = (tmp_path / "bert" / "report.html").read_bytes()
    assert run_command(["report", str(tmp_path / "bert" / "run.json.gz")]) == 0
    assert (tmp_path / "bert" / "report.html").read_bytes() == before


def test_wrong_files_are_exit_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The message names the file's fault."""
    (tmp_path / "a.json").write_text('{"traceEvents": [{"ph": "X"')
    assert run_command(["import", str(tmp_path / "a.json"), "--out", str(tmp_path)]) == 2
    assert "truncated at byte 27" in capsys.readouterr().err


def test_choices_exclude_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    """A step and everything cannot both be read."""
    assert run_command(["import", str(H100), "--step", "6", "--whole"]) == 2
    assert "exclude each other" in capsys.readouterr().err


def test_torch_is_not_needed(tmp_path: Path) -> None:
    """Import, alignment and report work where importing torch fails."""
    program = (
        "import sys; sys.modules['torch'] = None; sys.modules['numpy'] = None\n"
        "from compdiff.cli import main\n"
        f"main(['import', {str(H100)!r}, {str(MI300)!r}, '--out', {str(tmp_path)!r}])"
    )
    done = subprocess.run(  # noqa: S603 - the code stands above
        [sys.executable, "-c", program],
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_a_torch_trace_log_beside_a_trace(tmp_path: Path) -> None:
    """The report shows graphs and code of the compiled side, and rewrites have their pass."""
    folder = DATA.parent / "torch_trace"
    asked = [
        "import",
        str(folder / "breaks-eager.json.gz"),
        str(folder / "breaks-compiled.json.gz"),
    ]
    asked += ["--between", "## step ##", "## step ##", "--name", "breaks", "--out", str(tmp_path)]
    assert run_command([*asked, "--torch-trace", str(folder / "breaks.log.gz")]) == 0
    document = json.loads((tmp_path / "breaks" / "diff.json").read_text())
    assert [one["pass"] for one in document["rewrites"]] == ["post_grad: addmm", "", ""]
    assert len(document["graph_breaks"]) == len(document["recompiles"]) == 2
    page = (tmp_path / "breaks" / "report.html").read_text()
    assert "Graphs and generated code" in page
    assert "cpp_fused_add_mul_sigmoid_0" in page


def test_a_file_that_is_no_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The message says what it is expected to be."""
    assert (
        run_command(["import", str(H100), "--torch-trace", str(H100), "--out", str(tmp_path)]) == 2
    )
    assert "is no TORCH_TRACE log" in capsys.readouterr().err
