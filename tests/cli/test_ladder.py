"""`compdiff run --ladder`: files, exit codes, and rungs that fail. Stand-ins end the children; two tests do not."""

import json
from pathlib import Path

import msgspec
import pytest

from compdiff import analysis
from compdiff.capture import isolation
from compdiff.cli import run_command
from compdiff.ladder.records import Ladder
from compdiff.model import Diff, Run
from compdiff.store import read_run
from tests.capture.cuda_build import needs_cuda_build
from tests.cli.test_run import CASE, files

RUNGS = {"aot_eager", "default", "reduce-overhead", "max-autotune"}
ON_DEVICE = '''"""One."""
import torch
def inputs(device, dtype):
    return tuple(torch.ones(64, 64, device=device, dtype=dtype) for _ in range(3))
def fn(x, w, b):
    return torch.relu(torch.add(torch.matmul(x, w), b)) + x
'''
REPORT = {"run.json.gz", "report.html", "summary.md", "diff.json"}


@pytest.fixture(name="case", autouse=True)
def _case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a case file in the working folder."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "one.py"
    path.write_text(CASE.format(extra=""))
    return path


def climb(monkeypatch: pytest.MonkeyPatch, stand_in: str, *arguments: str) -> int:
    """Run a ladder with a stand-in in place of the measurement."""
    monkeypatch.setattr(isolation, "MEASURE", f"tests.capture.stand_ins:{stand_in}")
    return run_command(["run", "--ladder", "--device", "cpu", "--out", "out", *arguments])


def ladder_of(folder: str) -> dict[str, dict[str, object]]:
    """Return the rungs of a saved ladder by name."""
    saved = json.loads(Path(folder, "ladder.json").read_text())
    return {rung["name"]: rung for rung in saved["rungs"]}


def test_writes_the_ladder_and_each_report(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The case's folder has the ladder, and a folder with an ordinary report for each rung."""
    assert climb(monkeypatch, "kept", "one.py") == 0
    assert files("out/one") == {"ladder.json", "ladder.html", *RUNGS}
    for rung in RUNGS:
        assert files(f"out/one/{rung}") == REPORT
    captured = capsys.readouterr()
    assert "ladder out/one/ladder.html" in " ".join(captured.out.split())
    assert captured.err == ""


def test_a_rung_that_fails_leaves_the_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its reason is shown, the exit code is 2, and the other rungs are measured."""
    assert climb(monkeypatch, "raise_for_mode", "one.py") == 2
    rungs = ladder_of("out/one")
    assert "no such mode here" in str(rungs["reduce-overhead"]["failure"])
    assert [name for name, rung in rungs.items() if rung["failure"]] == ["reduce-overhead"]
    assert files("out/one") == {"ladder.json", "ladder.html", *(RUNGS - {"reduce-overhead"})}
    assert "failed reduce-overhead: " in capsys.readouterr().out


def test_a_partial_run_keeps_its_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rung that ended late is failed too, with what was measured in its folder."""
    assert climb(monkeypatch, "raise_late", "one.py") == 2
    assert {
        bool(rung["failure"]) for name, rung in ladder_of("out/one").items() if name in RUNGS
    } == {True}
    assert read_run(Path("out/one/default/run.json.gz")).failure is not None


def test_expectations_are_those_of_the_default(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a case expects is judged on the default rung alone."""
    assert climb(monkeypatch, "disappoint", "one.py") == 1
    error = capsys.readouterr().err
    assert error.count("one, default: expected the rewrite") == 1
    assert error.count("Error: ") == 1
    assert read_run(Path("out/one/max-autotune/run.json.gz")).expectation is None


@pytest.mark.parametrize("option", [("--mode", "reduce-overhead"), ("--backend", "eager")])
def test_modes_are_its_own(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], option: tuple[str, str]
) -> None:
    """Asking for one as well is a usage error, and nothing is run."""
    assert climb(monkeypatch, "kept", "one.py", *option) == 2
    assert "Leave out --mode and --backend" in capsys.readouterr().err
    assert not Path("out").exists()


def test_several_cases_have_an_index(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It links to each ladder; an error that compdiff does not expect leaves the other case its own."""
    Path("two.py").write_text(CASE.format(extra=""))
    conclude = analysis.analyse

    def broken(measured: Run) -> Diff:
        if measured.case.name == "two":
            raise ZeroDivisionError("a bug")
        return conclude(measured)

    monkeypatch.setattr(analysis, "analyse", broken)
    assert climb(monkeypatch, "kept", "one.py", "two.py") == 2
    index = Path("out/index.html").read_text()
    assert 'href="one/ladder.html"' in index
    assert "ZeroDivisionError: a bug" in index
    assert "All ladders: out/index.html" in capsys.readouterr().out


@pytest.mark.measured
def test_a_measured_ladder(case: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All rungs of a case on the CPU: each split adds up, each rung says what it is, and the reports stand beside."""
    arguments = ["run", "--ladder", "--device", "cpu", "--budget", "0.1", "--out", "out", str(case)]
    assert run_command(arguments) == 0, capsys.readouterr().err
    rungs = saved_ladder("out/one").rungs
    assert [rung.name for rung in rungs] == [
        "eager",
        "aot_eager",
        "default",
        "reduce-overhead",
        "max-autotune",
    ]
    for rung in rungs:
        assert rung.failure == ""
        assert rung.split is not None
        assert sum(part.ns for part in rung.split.parts) == rung.split.total_ns
        assert rung.step is not None
        assert rung.step.low_ns <= rung.step.median_ns <= rung.step.high_ns
    names = [{part.name for part in rung.split.parts} for rung in rungs if rung.split]
    assert names[0] == {"op_calls", "other"}
    assert all(found >= {"lookup", "wrapper", "op_calls", "other"} for found in names[1:])
    counts = {rung.name: rung.counts.op_calls for rung in rungs if rung.counts}
    assert counts["eager"] == counts["aot_eager"] == 2
    assert counts["default"] == 1
    assert all(rung.payback and rung.payback.compile_ns > 0 for rung in rungs[1:])
    assert rungs[3].cuda_graph is not None
    assert rungs[3].cuda_graph.reasons == ("a CPU has no CUDA graphs",)
    assert read_run(Path("out/one/aot_eager/run.json.gz")).options.backend == "aot_eager"


@needs_cuda_build
@pytest.mark.measured
def test_a_planned_ladder(case: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All rungs for a GPU that is not there: CUDA graphs make one launch, and no times are invented."""
    case.write_text(ON_DEVICE)
    arguments = ["run", "--ladder", "--target", "h200", "--jobs", "2", "--out", "out", str(case)]
    assert run_command(arguments) == 0, capsys.readouterr().err
    ladder = saved_ladder("out/one")
    rungs = {rung.name: rung for rung in ladder.rungs}
    assert ladder.basis == "planned"
    assert not [rung for rung in ladder.rungs if rung.split or rung.step or rung.payback]
    assert all(rung.work and rung.work.ns > 0 for rung in ladder.rungs)
    states = {name: rung.cuda_graph.state for name, rung in rungs.items() if rung.cuda_graph}
    assert states == {
        "aot_eager": "not asked",
        "default": "not asked",
        "reduce-overhead": "planned",
        "max-autotune": "planned",
    }
    launches = {name: rung.counts.launches for name, rung in rungs.items() if rung.counts}
    assert launches["reduce-overhead"] == 1
    assert launches["eager"] >= launches["default"] >= 1
    assert "cannot be known without the device" in rungs["max-autotune"].notes[0]


def saved_ladder(folder: str) -> Ladder:
    """Return a saved ladder, validated."""
    return msgspec.json.decode(Path(folder, "ladder.json").read_bytes(), type=Ladder)
