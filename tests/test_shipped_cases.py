"""The shipped cases, measured for real: on the CPU, and on a CUDA device where there is one.

Everything is asked of the command and its files, as a user would.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from compdiff.case import find
from compdiff.store import read_run
from tests.capture.cuda_build import needs_cuda_build

CASES = str(Path(__file__).parent.parent / "cases")
ON_CPU = find([CASES], device_type="cpu")
ON_CUDA = find([CASES], device_type="cuda")
# Cases that between them have a compiled backward, a graph break, random numbers and a library call.
# These between them have Triton kernels of all kinds, attention, a convolution and a backward pass.
ON_OTHER_TARGETS = ("linear", "attention_manual", "conv_training", "training_step")
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


@pytest.fixture(name="on_h200", scope="module")
def _on_h200(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return planned(tmp_path_factory.mktemp("h200"), CASES, target="h200")


@pytest.fixture(name="on_cuda", scope="module")
def _on_cuda(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return measured(tmp_path_factory.mktemp("cuda"), CASES, device="cuda")


@needs_cuda_build
@pytest.mark.measured
@pytest.mark.parametrize("name", [spec.name for spec in ON_CUDA])
def test_a_case_is_planned_for_an_h200(on_h200: Path, name: str) -> None:
    """No op call and no kernel is unexplained, and each Triton kernel says what its cubin takes."""
    assert_planned(on_h200, name)


@needs_cuda_build
@pytest.mark.measured
@pytest.mark.parametrize("target", ["a100", "b200"])
def test_cases_are_planned_for_other_targets(tmp_path: Path, target: str) -> None:
    """What holds for one generation of GPUs holds for the one before and after."""
    files = [str(Path(CASES) / f"{name}.py") for name in ON_OTHER_TARGETS]
    folder = planned(tmp_path, *files, target=target)
    for name in ("linear-size4096", *ON_OTHER_TARGETS[1:]):
        assert_planned(folder, name)


def assert_planned(folder: Path, name: str) -> None:
    """Check the plan of one case."""
    assert document(folder, name)["unexplained"] == {"op_calls": 0, "kernels": 0}
    run = read_run(folder / name / "run.json.gz")
    assert run.right.compiler is not None
    assert any(graph.post_grad for graph in run.right.compiler.graphs)
    for kernel in run.right.kernels:
        if kernel.kind == "triton":
            assert kernel.resources is not None, kernel.name
            assert kernel.resources.registers > 0


@pytest.mark.measured
@pytest.mark.parametrize("name", [spec.name for spec in ON_CPU])
def test_a_case_is_explained_on_the_cpu(on_cpu: Path, name: str) -> None:
    """Each op call has a fate, each kernel an origin, and what the case expects is true."""
    found = document(on_cpu, name)
    assert found["unexplained"] == {"op_calls": 0, "kernels": 0}
    assert found["expectations"]["hold"] in {True, None}


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
