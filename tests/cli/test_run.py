"""`compdiff run`: exit codes, files, and what is printed. Stand-ins end the children; one test measures."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from time import sleep

import pytest

from compdiff import analysis
from compdiff.capture import isolation
from compdiff.cli import run_command
from compdiff.cli.run import choose_device
from compdiff.errors import CompdiffError
from compdiff.model import Diff, Run
from compdiff.store import read_run

CASE = '''"""One."""
import torch
{extra}
def inputs(device, dtype, size=8):
    return torch.ones(size, size), torch.ones(size, size), torch.ones(size)
def fn(x, w, b):
    return torch.add(torch.matmul(x, w), b)
'''


@pytest.fixture(name="case")
def _case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a case file in the working folder."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "one.py"
    path.write_text(CASE.format(extra=""))
    return path


@pytest.fixture(autouse=True)
def _keep_sigterm() -> None:
    """The command sets a handler; pytest keeps its own."""
    handler = signal.getsignal(signal.SIGTERM)
    signal.signal(signal.SIGTERM, handler)


def run(monkeypatch: pytest.MonkeyPatch, stand_in: str, *arguments: str) -> int:
    """Run the command with a stand-in in place of the measurement."""
    monkeypatch.setattr(isolation, "MEASURE", f"tests.capture.stand_ins:{stand_in}")
    return run_command(["run", "--device", "cpu", "--out", "out", *arguments])


def files(folder: str) -> set[str]:
    """Return the names of the files in a folder."""
    return {path.name for path in Path(folder).iterdir()}


@pytest.mark.usefixtures("case")
def test_writes_the_files_of_a_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run leaves four files, and the terminal says where the report is."""
    run(monkeypatch, "kept", "one.py")
    assert files("out/one") == {"run.json.gz", "report.html", "summary.md", "diff.json"}
    assert files("out") == {"one"}
    captured = capsys.readouterr()
    assert "out/one/report.html" in captured.out
    assert captured.err == ""


@pytest.mark.usefixtures("case")
def test_failed_case_is_exit_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A case that raises is a tool error, with its traceback on stderr and nothing written."""
    assert run(monkeypatch, "raise_early", "one.py") == 2
    error = capsys.readouterr().err
    assert error.startswith("Error: one: ZeroDivisionError: the case divides\n")
    assert "in raise_early" in error
    assert not Path("out").exists()


@pytest.mark.usefixtures("case")
def test_partial_run_is_kept(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was measured before a failure is saved and reported; the exit code is 2 all the same."""
    assert run(monkeypatch, "raise_late", "one.py") == 2
    kept = read_run(Path("out/one/run.json.gz"))
    assert kept.failure is not None
    assert "Error: one: ZeroDivisionError" in capsys.readouterr().err


def test_other_cases_still_run(
    case: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One failed case does not stop the next; the index has both."""
    (case.parent / "two.py").write_text(CASE.format(extra=""))
    assert run(monkeypatch, "raise_for_one", "one.py", "two.py") == 2
    assert files("out") == {"two", "index.html"}
    index = Path("out/index.html").read_text()
    assert "ZeroDivisionError" in index
    assert "two/report.html" in index
    assert "index.html" in capsys.readouterr().out


@pytest.mark.usefixtures("case")
def test_a_bug_in_one_case_leaves_the_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An error that compdiff does not expect is exit 2 with its traceback, and the next case gets its report."""
    Path("two.py").write_text(CASE.format(extra=""))
    conclude = analysis.analyse

    def broken(measured: Run) -> Diff:
        if measured.case.name == "one":
            raise ZeroDivisionError("a bug")
        return conclude(measured)

    monkeypatch.setattr(analysis, "analyse", broken)
    assert run(monkeypatch, "kept", "one.py", "two.py") == 2
    error = capsys.readouterr().err
    assert "Traceback" in error
    assert "Error: ZeroDivisionError: a bug\nHint: This is a bug in compdiff" in error
    assert files("out/one") == {"run.json.gz"}
    assert "report.html" in files("out/two")


@pytest.mark.usefixtures("case")
def test_failed_expectation_is_exit_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An expectation that does not hold is exit code 1, and the summary says which."""
    assert run(monkeypatch, "disappoint", "one.py") == 1
    assert "mm-add-to-addmm" in capsys.readouterr().out


@pytest.mark.usefixtures("case")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("absent.py",), "no case found at absent.py"),
        (("one.py", "-k", "nothing"), "no case is left to run"),
        (("one.py", "--param", "sise=1"), "has no parameter 'sise'"),
        (("one.py", "--param", "size"), "is not key=value"),
    ],
)
def test_wrong_arguments(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    words: str,
) -> None:
    """What cannot be run is exit code 2 before anything starts."""
    assert run(monkeypatch, "kept", *arguments) == 2
    assert words in capsys.readouterr().err


def test_skipped_sets_are_named(
    case: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A parameter set for another device is left out with its reason."""
    sets = 'PARAMS = {"a": {"device": "cuda"}, "b": {"size": 4}}'
    case.write_text(CASE.format(extra=sets))
    run(monkeypatch, "kept", "one.py")
    assert "skipped one-a: its parameter set is for cuda only" in capsys.readouterr().err


@pytest.mark.parametrize("asked", ["cpu", "cuda", "cuda:1"])
def test_devices(asked: str) -> None:
    """A device that is named is taken."""
    assert choose_device(asked) == asked


@pytest.mark.parametrize("asked", ["gpu", "cpu:0", "cuda:", "cuda:x", ""])
def test_wrong_devices(asked: str) -> None:
    """Any other name is refused."""
    with pytest.raises(CompdiffError, match="unknown device"):
        choose_device(asked)


@pytest.mark.parametrize(("signum", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupt_leaves_nothing(case: Path, tmp_path: Path, signum: int, code: int) -> None:
    """Ctrl-C and SIGTERM end the run with no output, no child and no temporary file."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    case.write_text(CASE.format(extra="import time; print('running', flush=True); time.sleep(600)"))
    program = (
        "from compdiff.capture import isolation\n"
        "from compdiff.cli import main\n"
        "if __name__ == '__main__':\n"
        "    isolation._PRELOADED = 'compdiff.capture.child'\n"
        "    main(['run', 'one.py', '--device', 'cpu', '--out', 'out'])"
    )
    with subprocess.Popen(  # noqa: S603 - the code stands above
        [sys.executable, "-c", program],
        env={"TMPDIR": str(scratch), "PATH": "/usr/bin:/bin", "PYTHONPATH": ":".join(sys.path)},
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        first = process.stderr.readline()
        process.send_signal(signum)
        said = first + process.stderr.read()
    assert first == "running\n", said
    assert process.returncode == code
    assert not Path("out").exists()
    sleep(0.1)
    assert [path for path in scratch.iterdir() if path.name.startswith("compdiff-")] == []


@pytest.mark.measured
def test_measures_a_real_case(case: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A product and a sum, measured and compiled for real, become one addmm."""
    case.write_text(CASE.format(extra='EXPECT = {"rules": ["mm-add-to-addmm"]}'))
    arguments = ["run", "one.py", "--device", "cpu", "--out", "out", "--budget", "0.1"]
    assert run_command(arguments) == 0
    document = json.loads(Path("out/one/diff.json").read_text())
    assert document["unexplained"] == {"op_calls": 0, "kernels": 0}
    assert "mm-add-to-addmm" in {rewrite["rule"] for rewrite in document["rewrites"]}
    assert "mm-add-to-addmm" in capsys.readouterr().out


@pytest.mark.usefixtures("case")
def test_an_unknown_rule_is_found_before_anything_is_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, the close names, and no folder."""
    assert run(monkeypatch, "finish", "one.py", "--why-not", "adm") == 2
    assert "no such rule" in capsys.readouterr().err
    assert not Path("out").exists()
