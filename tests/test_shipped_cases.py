"""The shipped cases, measured for real: on the CPU, and on a CUDA device where there is one.

Everything is asked of the command and its files, as a user would.
"""

import gzip
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from compdiff.analysis import analyse
from compdiff.case import find
from compdiff.store import read_run
from tests.capture.cuda_build import needs_cuda_build
from tests.claims.checker import OPEN, faults

CASES = str(Path(__file__).parent.parent / "cases")
ON_CPU = find([CASES], device_type="cpu")
ON_CUDA = find([CASES], device_type="cuda")
# All cases are planned for the first target; for the others those that show one thing each, not the families.
PLANNED_FOR = {"h200": "cases", "a100": "cases/*.py", "b200": "cases/*.py"}
PLANS = [
    (target, spec.name)
    for target, pattern in PLANNED_FOR.items()
    for spec in find([str(Path(CASES).parent / pattern)], device_type="cuda")
]
# Between them these have frozen parameters, attention, a backward pass, a graph break and random numbers.
PLANNED_TWICE = ("attention_sdpa", "conv_bn_relu", "training_step", "graph_break", "dropout")
# Cases that between them have a compiled backward, a graph break, random numbers and a library call.
TWICE = ("linear", "training_step", "graph_break", "dropout")
VARYING = ("speedup", "verdict", "environment")


def measured(folder: Path, *cases: str, device: str) -> Path:
    """Measure cases, expect exit code 0, and return the folder of their results."""
    return done(folder, *cases, "--device", device, "--budget", "0.1")


def planned(folder: Path, *cases: str, target: str) -> Path:
    """Plan cases, expect exit code 0, and return the folder of their results."""
    return done(folder, *cases, "--target", target, "--jobs", "2")


def done(folder: Path, *arguments: str) -> Path:
    """Run cases, expect exit code 0, and return the folder of their results."""
    command = [sys.executable, "-m", "compdiff", "run", *arguments, "--out", str(folder)]
    ended = subprocess.run(  # noqa: S603 - this project's own command
        command,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout[-3000:] + ended.stderr[-3000:]
    return folder


def document(folder: Path, name: str) -> dict[str, Any]:
    """Return the diff.json of one case."""
    found: dict[str, Any] = json.loads((folder / name / "diff.json").read_text(encoding="utf-8"))
    return found


def without_times(value: object) -> object:
    """Return a diff.json, or a part of it, without what rests on times."""
    if isinstance(value, dict):
        kept = {key: item for key, item in value.items() if not is_varying(key)}
        return {key: without_times(item) for key, item in kept.items()}
    if isinstance(value, list):
        timed = [isinstance(item, dict) and item.get("timed") is True for item in value]
        return [without_times(item) for item, drop in zip(value, timed, strict=True) if not drop]
    return value


def is_varying(key: str) -> bool:
    """Return whether a field of diff.json rests on times."""
    return key in VARYING or key.endswith("_ns")


@pytest.fixture(name="on_cpu", scope="module")
def _on_cpu(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return measured(tmp_path_factory.mktemp("cpu"), CASES, device="cpu")


@pytest.fixture(name="again", scope="module")
def _again(tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = [str(Path(CASES) / f"{name}.py") for name in TWICE]
    return measured(tmp_path_factory.mktemp("again"), *files, device="cpu")


@pytest.fixture(name="plans", scope="module")
def _plans(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return what gives the folder of a target's plans, made once. A parametrized fixture would plan anew for each case."""

    @cache
    def plans(target: str) -> Path:
        pattern = str(Path(CASES).parent / PLANNED_FOR[target])
        return planned(tmp_path_factory.mktemp(target), pattern, target=target)

    return plans


@pytest.fixture(name="on_cuda", scope="module")
def _on_cuda(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return measured(tmp_path_factory.mktemp("cuda"), CASES, device="cuda")


@needs_cuda_build
@pytest.mark.measured
@pytest.mark.parametrize(("target", "name"), PLANS)
def test_a_case_is_planned(plans: Callable[[str], Path], target: str, name: str) -> None:
    """No op call and no kernel is unexplained, and each Triton kernel says what its cubin takes."""
    assert document(plans(target), name)["unexplained"] == {"op_calls": 0, "kernels": 0}
    run = read_run(plans(target) / name / "run.json.gz")
    assert run.right.compiler is not None
    assert any(graph.post_grad for graph in run.right.compiler.graphs)
    for kernel in run.right.kernels:
        if kernel.kind == "triton":
            assert kernel.resources is not None, kernel.name
            assert kernel.resources.registers > 0


@needs_cuda_build
@pytest.mark.measured
def test_plans_made_side_by_side_are_those_made_in_turn(tmp_path: Path) -> None:
    """But for clocks a plan is the same file, whoever makes it; it names no folder and no address of a process."""
    files = [str(Path(CASES) / f"{name}.py") for name in PLANNED_TWICE]
    for jobs in ("1", "3"):
        done(tmp_path / jobs, *files, "--target", "h200", "--jobs", jobs)
    for name in PLANNED_TWICE:
        runs, diffs = zip(*(files_of(tmp_path / jobs / name) for jobs in ("1", "3")), strict=True)
        assert without_clocks(runs[0]) == without_clocks(runs[1])
        assert diffs[0] == diffs[1]


def files_of(folder: Path) -> tuple[str, str]:
    """Return the texts of a case's run and diff."""
    run = gzip.decompress((folder / "run.json.gz").read_bytes()).decode()
    return run, (folder / "diff.json").read_text(encoding="utf-8")


def without_clocks(run: str) -> str:
    """Return a run's text without the times of its compilation and the moment it was made."""
    return re.sub(r'"created":"[^"]*"|"phases_ns":\{[^}]*\}', "", run)


@pytest.mark.measured
@pytest.mark.parametrize("name", [spec.name for spec in ON_CPU])
def test_a_case_is_explained_on_the_cpu(on_cpu: Path, name: str) -> None:
    """Each op call has a fate, each kernel an origin, and what the case expects is true."""
    found = document(on_cpu, name)
    assert found["unexplained"] == {"op_calls": 0, "kernels": 0}
    assert found["expectations"]["hold"] in {True, None}


@pytest.mark.measured
@pytest.mark.parametrize("name", [spec.name for spec in ON_CPU])
def test_claims_are_borne_out_on_the_cpu(on_cpu: Path, name: str) -> None:
    """The records of a case's run contradict nothing that is claimed of it."""
    assert claims_refuted(on_cpu / name) == []


@needs_cuda_build
@pytest.mark.measured
@pytest.mark.parametrize(("target", "name"), PLANS)
def test_claims_are_borne_out_in_plans(
    plans: Callable[[str], Path], target: str, name: str
) -> None:
    """The same of plans, but for the cases that are known to be explained wrongly."""
    assert bool(claims_refuted(plans(target) / name)) == (name in OPEN)


def claims_refuted(folder: Path) -> list[str]:
    """Return what a case's run contradicts of what is concluded from it."""
    run = read_run(folder / "run.json.gz")
    return faults(run, analyse(run))


@pytest.mark.measured
def test_matmul_and_add_become_one_addmm(on_cpu: Path) -> None:
    """The main example: both op calls on the left, one addmm on the right, the source line and the pass."""
    found = document(on_cpu, "linear")
    (rewrite,) = [one for one in found["rewrites"] if one["rule"] == "mm-add-to-addmm"]
    assert rewrite["left"] == ["e0", "e1"]
    assert rewrite["right"] == ["c0"]
    assert "linear.py:" in rewrite["source"]
    assert rewrite["pass"].startswith("post_grad")
    assert rewrite["outcome"] in {"bias-epilogue", "seeded-output"}


@pytest.mark.measured
@pytest.mark.parametrize("name", TWICE)
def test_two_runs_say_the_same(on_cpu: Path, again: Path, name: str) -> None:
    """Two runs of a case give the same diff.json but for times."""
    first, second = (without_times(document(folder, name)) for folder in (on_cpu, again))
    assert first == second


@pytest.mark.gpu
@pytest.mark.parametrize("name", [spec.name for spec in ON_CUDA])
def test_a_case_is_explained_on_cuda(on_cuda: Path, name: str) -> None:
    """The same on a CUDA device, with the expectations for it."""
    found = document(on_cuda, name)
    assert found["unexplained"] == {"op_calls": 0, "kernels": 0}
    assert found["expectations"]["hold"] in {True, None}
