"""Cases planned for real in child processes, without a GPU."""

import json
from pathlib import Path

import msgspec
import pytest
import torch

from compdiff.analysis import analyse, unexplained
from compdiff.capture.isolation import run_isolated
from compdiff.capture.plan.session import plan
from compdiff.errors import CaptureError
from compdiff.model import CaseSpec, CompileOptions, Request, Run
from compdiff.targets import TARGETS
from compdiff.work import side_work
from tests.capture.cuda_build import needs_cuda_build

MODELS = sorted((Path(__file__).parent / "models").glob("*.py"))
CASES = Path(__file__).resolve().parents[3] / "cases"


def request(path: Path, target: str = "h200", **params: int) -> Request:
    """Return the request to plan one case."""
    spec = CaseSpec(name=path.stem, path=str(path), params=dict(params))
    return Request(spec=spec, device="cuda", target=TARGETS[target], options=CompileOptions())


def planned(path: Path, target: str = "h200", **params: int) -> Run:
    """Return a case's plan."""
    return run_isolated(request(path, target, **params), timeout_s=300, on_stage=lambda _: None)


def written(folder: Path, body: str) -> Path:
    """Write a case of one input."""
    path = folder / "one.py"
    text = '"""One."""\nimport torch\n\n\ndef inputs(device, dtype):\n'
    text += "    return (torch.randn(64, 64, device=device, dtype=dtype),)\n\n\n"
    path.write_text(f"{text}def fn(x):\n    {body}\n")
    return path


@needs_cuda_build
@pytest.mark.measured
def test_linear_for_an_h200() -> None:
    """The plan names the rewrite, compiles nothing by chance, and has estimates on both sides."""
    run = planned(CASES / "linear.py", size=4096)
    diff = analyse(run)
    assert [rewrite.rule for rewrite in diff.rewrites] == ["mm-add-to-addmm"]
    assert diff.rewrites[0].outcome == "seeded-output"
    assert unexplained(diff) == (0, 0)
    assert {run.left.basis, run.right.basis} == {"planned"}
    assert all(kernel.estimate and not kernel.duration_ns for kernel in run.right.kernels)
    assert [audit.compiles_after for audit in run.audits][-3:] == [1, 1, 1]


@needs_cuda_build
@pytest.mark.measured
def test_training_has_resources_of_each_kernel() -> None:
    """Forward and backward plan, and each Triton kernel says what its cubin takes."""
    run = planned(CASES / "training_step.py")
    assert unexplained(analyse(run)) == (0, 0)
    generated = [kernel for kernel in run.right.kernels if kernel.kind == "triton"]
    assert generated
    for kernel in generated:
        assert kernel.resources is not None
        assert kernel.resources.registers > 0
        assert 0 < kernel.resources.occupancy <= 1
    assert all(kernel.modelled for kernel in run.right.kernels if kernel.kind != "triton")


@needs_cuda_build
@pytest.mark.measured
@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_models_in_module_form(path: Path) -> None:
    """Nothing of a module is unexplained, whatever its constructor asks of the device."""
    asked = request(path)
    spec = msgspec.structs.replace(asked.spec, form="module")
    asked = msgspec.structs.replace(asked, spec=spec)
    run = run_isolated(asked, timeout_s=300, on_stage=lambda _: None)
    assert run.failure is None
    assert unexplained(analyse(run)) == (0, 0)
    assert run.right.kernels
    for kernel in run.right.kernels:
        assert kernel.modelled or kernel.resources is not None, kernel.name


@needs_cuda_build
@pytest.mark.measured
def test_twice_the_same() -> None:
    """Two plans of a case differ in clocks and compile times alone."""
    runs = [json.loads(msgspec.json.encode(timeless(planned(CASES / "softmax.py")))) for _ in "ab"]
    assert runs[0] == runs[1]


def timeless(run: Run) -> Run:
    """Return a run without what a clock read."""
    compiler = run.right.compiler
    assert compiler is not None
    compilations = tuple(
        msgspec.structs.replace(one, phases_ns={}) for one in compiler.compilations
    )
    compiler = msgspec.structs.replace(compiler, compilations=compilations)
    right = msgspec.structs.replace(run.right, compiler=compiler)
    return msgspec.structs.replace(run, right=right, created="")


@needs_cuda_build
@pytest.mark.measured
@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return x[x > 0].sum()", "aten.nonzero"),
        ("torch.cuda.Event().record()\n    return x", "one.py"),
    ],
)
def test_says_what_needs_the_device(tmp_path: Path, body: str, words: str) -> None:
    """A case that cannot be planned names the op or the line."""
    with pytest.raises(CaptureError, match="cannot be planned") as caught:
        planned(written(tmp_path, body))
    assert words in caught.value.message


@needs_cuda_build
@pytest.mark.measured
def test_assumes_a_value_and_says_so(tmp_path: Path) -> None:
    """A branch on a value takes the way of an assumed one, and the run has a warning."""
    run = planned(written(tmp_path, "return x + 1 if x.sum() > 0 else x - 1"))
    assert "assumed-value" in [warning.id for warning in run.warnings]


@needs_cuda_build
@pytest.mark.measured
def test_a_loop_on_a_value_that_never_changes_ends(tmp_path: Path) -> None:
    """A case that waits for another value than the assumed one is told so, and does not hang."""
    with pytest.raises(CaptureError, match=r"read 10,000 values"):
        planned(written(tmp_path, "while x.sum() > 0:\n        x = x - 1\n    return x"))


@needs_cuda_build
@pytest.mark.measured
def test_a_constructor_that_draws_until_all_is_within_bounds_is_made_on_the_cpu(
    tmp_path: Path,
) -> None:
    """Truncated normal initialization loops on values: the module is made with real ones."""
    text = (
        "import torch\nclass Model(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.weight = torch.nn.Parameter(torch.empty(8, 8))\n"
        "        torch.nn.init.trunc_normal_(self.weight, std=0.02)\n"
        "    def forward(self, x):\n        return torch.relu(x @ self.weight)\n"
        "def get_init_inputs():\n    return []\ndef get_inputs():\n    return [torch.randn(4, 8)]\n"
    )
    path = tmp_path / "drawn.py"
    path.write_text(text)
    asked = request(path)
    asked = msgspec.structs.replace(asked, spec=msgspec.structs.replace(asked.spec, form="module"))
    run = run_isolated(asked, timeout_s=300, on_stage=lambda _: None)
    assert "assumed-value" not in [warning.id for warning in run.warnings]
    assert len(run.right.kernels) > 0


@needs_cuda_build
@pytest.mark.measured
def test_what_runs_on_the_host_launches_nothing(tmp_path: Path) -> None:
    """Copies to the host and back are copies, the op between them is a C++ function, and nothing is unexplained."""
    run = planned(written(tmp_path, "return x.cpu().mul(2).to(x.device) + 1"))
    diff = analyse(run)
    assert unexplained(diff) == (0, 0)
    assert [kernel.kind for kernel in run.right.kernels] == ["memcpy", "cpp", "memcpy", "triton"]
    assert len(run.left.kernels) == 3
    work = side_work(run.right)
    assert work is not None
    assert work.kernels == 3


def test_without_a_target_there_is_no_plan() -> None:
    """The request must say for whom."""
    bare = msgspec.structs.replace(request(CASES / "linear.py"), target=None)
    with pytest.raises(CaptureError, match="target"):
        plan(bare, progress=lambda _: None, save=lambda _: None)


def test_a_cpu_build_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """The code generator for CUDA is only in the CUDA build."""
    monkeypatch.setattr(torch.version, "cuda", None)
    with pytest.raises(CaptureError, match="without CUDA") as caught:
        plan(request(CASES / "linear.py"), progress=lambda _: None, save=lambda _: None)
    assert "pip install torch" in caught.value.hint


@needs_cuda_build
@pytest.mark.measured
@pytest.mark.parametrize(
    ("body", "fate"),
    [
        (
            "return x * torch.tensor(2.5, dtype=x.dtype, device=x.device) + torch.tensor([3.5], device=x.device)",
            "folded",
        ),
        (
            "return torch.cat([torch.tensor([], dtype=x.dtype, device=x.device), x], dim=-2)",
            "eliminated",
        ),
    ],
    ids=["scalars", "an empty cache"],
)
def test_constants_made_in_the_function(tmp_path: Path, body: str, fate: str) -> None:
    """Tracing keeps the values of small constants, which are made on the CPU: kernels hold them, but for empty ones."""
    run = planned(written(tmp_path, body))
    assert run.failure is None
    diff = analyse(run)
    assert unexplained(diff) == (0, 0)
    fates = {call.name: diff.fates[f"e{call.id}"].fate for call in run.left.op_calls}
    assert fates["aten::lift_fresh"] == fate


@needs_cuda_build
@pytest.mark.measured
@pytest.mark.parametrize(
    ("case", "reason"), [("inplace_update", "mutated inputs (1 instances)"), ("linear", "")]
)
def test_cuda_graphs_or_why_not(case: str, reason: str) -> None:
    """A graph that changes its inputs is not replayed, which torch itself finds only when it runs; others are."""
    asked = msgspec.structs.replace(
        request(CASES / f"{case}.py"), options=CompileOptions(mode="reduce-overhead")
    )
    run = run_isolated(asked, timeout_s=300, on_stage=lambda _: None)
    assert run.right.compiler is not None
    (compilation,) = run.right.compiler.compilations
    assert reason in compilation.cudagraph_skip_reason
    assert bool(compilation.cudagraph_skip_reason) == bool(reason)
    assert any(it.id == "cuda-graph" for it in run.warnings) == (not reason)
