"""`compdiff check`: as a build types it, on runs that exist."""

import json
import subprocess
from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import pytest

from compdiff.cli import run_command
from compdiff.model import OutputError, Run
from compdiff.store import write_run
from tests.builders import timing
from tests.variants import golden, uncompiled, with_break, with_split_kernel

replace = msgspec.structs.replace


@pytest.fixture(name="project", autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a project of two cases: a lock, a folder of runs of the baseline, and settings that name them."""
    monkeypatch.chdir(tmp_path)
    for name in ("linear", "mlp_geglu"):
        save("before", timed(golden(name)))
    (tmp_path / "compdiff.toml").write_text('baseline = "before"\n')
    assert run_command(["lock", "--runs", "before"]) == 0
    return tmp_path


def timed(run: Run, compiled_ns: int = 800_000) -> Run:
    """Return the run with enough samples for a verdict."""
    return replace(run, timing=timing(1_000_000, compiled_ns))


def save(folder: str, run: Run) -> None:
    """Write a run as `compdiff run --out` does."""
    write_run(run, Path(folder) / run.case.name / "run.json.gz")


def check(*words: str) -> int:
    """Return the exit code of a check of the runs in `now`."""
    return run_command(["check", "--runs", "now", *words])


def split(run: Run) -> Run:
    """Return the run of mlp_geglu with its fused kernel as two."""
    (kernel,) = run.right.kernels
    gelu = frozenset({"mul_2", "mul", "add", "erf", "mul_1"})
    parts = (("cpp_fused_gelu_0", gelu), ("cpp_fused_mul_1", frozenset({"mul_3"})))
    return with_split_kernel(run, kernel, *parts)


def inexact(run: Run) -> Run:
    """Return the run with an error of the compiled side that is within the tolerance, and larger than before."""
    assert run.numerics is not None
    wrong = OutputError(max_abs=3e-5, max_rel=3e-5)
    return replace(run, numerics=replace(run.numerics, right=wrong, between=wrong))


def test_unchanged_runs_pass_a_hundred_times(capsys: pytest.CaptureFixture[str]) -> None:
    """Two cases against lock and baseline: exit code 0 and the same table, each time."""
    for name in ("linear", "mlp_geglu"):
        save("now", timed(golden(name), 801_000))
    capsys.readouterr()
    tables = set()
    for _ in range(100):
        assert check() == 0
        tables.add(capsys.readouterr().out)
    (table,) = tables
    assert table.splitlines()[-1] == "2 cases: 2 passed"
    assert "linear     on cpu  time same: 1.00" in table


@pytest.mark.parametrize(
    ("run", "line"),
    [
        (
            uncompiled(timed(golden("linear"))),
            (
                "mm-add-to-addmm (seeded-output) lost (of aten::mm and aten::add.Tensor); "
                "aten::add.Tensor now runs by itself; aten::mm now runs by itself"
            ),
        ),
        (
            split(timed(golden("mlp_geglu"))),
            (
                "pointwise-fusion lost (of aten::gelu and aten::mul.Tensor); "
                "aten::gelu is now its own kernel cpp_fused_gelu; "
                "aten::mul.Tensor is now its own kernel cpp_fused_mul"
            ),
        ),
        (
            with_break(timed(golden("linear")), "Data-dependent branching"),
            "graph break gained: Data-dependent branching",
        ),
        (timed(golden("linear"), 880_000), "slower by 10.0 %: 1.100x the time before"),
        (inexact(timed(golden("linear"))), "error against float64 grew from"),
    ],
    ids=["rewrite", "kernel", "break", "time", "numerics"],
)
def test_each_regression_fails_with_a_clear_line(
    run: Run, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A lost rewrite, an extra kernel, a graph break, a tenth more time, a larger error: exit code 1, one line each."""
    save("now", run)
    capsys.readouterr()

    assert check() == 1

    lines = [text.strip() for text in capsys.readouterr().out.splitlines()]
    assert lines[0].startswith(f"failed  {run.case.name}  on cpu")
    assert [text for text in lines if text.startswith(line)]
    assert lines[-1] == "1 case: 1 failed"


def test_files_for_a_build(project: Path) -> None:
    """JUnit, SARIF and Markdown say the same of a failed case; SARIF points at the line of the op call."""
    save("now", uncompiled(timed(golden("linear"))))

    assert check("--junit", "j.xml", "--sarif", "s.json", "--markdown", "m.md") == 1

    failure = ET.parse(project / "j.xml").find(".//failure")  # noqa: S314 - our own
    assert failure is not None
    assert failure.get("type") == "rewrite-lost"
    (run,) = json.loads((project / "s.json").read_text())["runs"]
    first = run["results"][0]
    assert first["ruleId"] == "rewrite-lost"
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "cases/linear.py"
    source = golden("linear").case.source.splitlines()
    assert "torch.matmul" in source[place["region"]["startLine"] - 1]
    assert "mm-add-to-addmm" in (project / "m.md").read_text()


def test_a_change_is_accepted_with_who_and_why(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lock says what is now, why and by whom; then the check passes, and the other case stays as it was."""
    subprocess.run(["git", "init", "-q"], check=True)  # noqa: S607 - the machine's git
    for name, value in (("name", "Pat Doe"), ("email", "pat@example.com")):
        subprocess.run(["git", "config", f"user.{name}", value], check=True)  # noqa: S603, S607 - fixed words
    monkeypatch.delenv("GIT_AUTHOR_NAME", raising=False)
    other = (project / "compdiff.lock").read_text().partition("[mlp_geglu")[2]
    save("now", uncompiled(timed(golden("linear"))))

    assert check("--update-baseline", "--why", "eager on\npurpose") == 0

    lock = (project / "compdiff.lock").read_text()
    assert "\naccepted eager on purpose (Pat Doe <pat@example.com>)\n" in lock
    assert lock.partition("[mlp_geglu")[2] == other
    assert check() == 0


@pytest.mark.parametrize("why", [[], ["--why", " "]])
def test_accepting_needs_a_reason(
    project: Path, why: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Without one nothing is judged or written."""
    before = (project / "compdiff.lock").read_bytes()
    save("now", uncompiled(golden("linear")))

    assert check("--update-baseline", *why) == 2

    assert "without a reason" in capsys.readouterr().err
    assert (project / "compdiff.lock").read_bytes() == before


def test_settings_of_setup_cfg(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Limits and allowed changes are read there where there is no compdiff.toml."""
    (project / "compdiff.toml").unlink()
    (project / "setup.cfg").write_text(
        "[tool:compdiff]\nbaseline = before\nallow =\n    linear: graph break gained: *\n"
        "[tool:compdiff:limits]\nslowdown = 0.2\n"
    )
    save("now", with_break(timed(golden("linear"), 880_000), "Data-dependent branching"))

    assert check() == 0

    assert "allowed: graph break gained" in capsys.readouterr().out


def test_a_run_that_ended_early_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2 tells a build that nothing was judged."""
    failure = {"stage": "compile", "message": "no compiler"}
    save("now", msgspec.convert({**msgspec.to_builtins(golden("linear")), "failure": failure}, Run))

    assert check() == 2

    assert "ended in compile: no compiler" in capsys.readouterr().out


def test_nothing_to_check_against(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without lock and baseline nothing passes by mistake."""
    (project / "compdiff.lock").unlink()
    (project / "compdiff.toml").unlink()
    save("now", golden("linear"))

    assert check() == 2

    assert "nothing to check against" in capsys.readouterr().err


def test_cases_are_selected(capsys: pytest.CaptureFixture[str]) -> None:
    """`-k` keeps what fits, as in `compdiff run`; a selection that fits nothing is an error."""
    for name in ("linear", "mlp_geglu"):
        save("now", uncompiled(timed(golden(name))))

    assert check("-k", "geglu") == 1
    assert capsys.readouterr().out.splitlines()[-1] == "1 case: 1 failed"
    assert check("-k", "nothing") == 2


@pytest.mark.measured
def test_cases_are_run(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A case is measured against the lock that was written by measuring it, and fails when its addmm is gone."""
    (project / "compdiff.lock").unlink()
    case = project / "own.py"
    source = """
import torch

def fn(x, w, b):
    return torch.relu(x @ w + b)

def inputs(device, dtype):
    return [torch.randn(64, 64, device=device, dtype=dtype) for _ in range(3)]
"""
    case.write_text(source)
    (project / "compdiff.toml").write_text('cases = ["own.py"]\ndevice = "cpu"\nbudget = 0.1\n')
    assert run_command(["lock"]) == 0
    assert run_command(["check", "--out", "first"]) == 0
    assert run_command(["check", "--baseline", "first"]) == 0

    case.write_text(source.replace("x @ w + b", "x @ w - b"))
    capsys.readouterr()
    assert run_command(["check", "--sarif", "s.json"]) == 1

    out = capsys.readouterr().out
    assert "mm-add-to-addmm" in out
    assert "lost" in out
    (run,) = json.loads((project / "s.json").read_text())["runs"]
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "own.py"
    assert place["region"]["startLine"] >= 4


@pytest.mark.measured
def test_a_plan_is_checked_without_a_gpu(project: Path) -> None:
    """`--target` locks and checks what is compiled for a GPU that is not here."""
    case = project / "own.py"
    case.write_text(
        "import torch\ndef fn(x):\n    return torch.relu(x) + 1\n"
        "def inputs(device, dtype):\n    return [torch.randn(64, 64, device=device, dtype=dtype)]\n"
    )
    (project / "compdiff.toml").write_text('cases = ["own.py"]\ntarget = "h200"\n')
    assert run_command(["lock"]) == 0
    assert "[own on h200]" in (project / "compdiff.lock").read_text()
    assert run_command(["check", "own.py"]) == 0
    case.write_text(case.read_text().replace("+ 1", "+ x.sum()"))
    assert run_command(["check", "own.py"]) == 1
