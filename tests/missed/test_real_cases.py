"""Near misses of compiled cases: measured on the CPU, planned for an H200."""

from pathlib import Path

import pytest

from compdiff.analysis import analyse
from compdiff.capture.isolation import run_isolated
from compdiff.missed import why_not
from compdiff.model import (
    CaseSpec,
    CompileOptions,
    Diff,
    Missed,
    Request,
    Run,
    SamplingPlan,
)
from compdiff.targets import TARGETS
from tests.capture.cuda_build import needs_cuda_build

HEAD = '"""One."""\nimport torch\n\n\ndef inputs(device, dtype):\n    def new(*shape, of=dtype):\n'
HEAD += "        return torch.randn(*shape, device=device, dtype=of)\n"
CASES = {
    "used_twice": ("new(64, 64), new(64, 64), new(64)", "x, w, b", "p = x @ w", "p + b, p.sin()"),
    "viewed": ("new(4, 16, 64), new(64, 64), new(4, 16, 64)", "x, w, r", "p = x @ w", "p + r"),
    "other_shape": (
        "new(1, 64), new(64, 64), new(64, 64)",
        "x, w, b",
        "p = torch.mm(x, w)",
        "p + b",
    ),
    "other_dtype": (
        "new(64, 64, of=torch.bfloat16), new(64, 64, of=torch.bfloat16), new(64, of=torch.float32)",
        "x, w, b",
        "p = torch.mm(x, w)",
        "p + b",
    ),
    "written_between": (
        "new(64, 64),",
        "x",
        "y = x * 2\n    a = y.sin()\n    y.add_(1)",
        "a + y.sin()",
    ),
    "scaled_and_masked": (
        "new(2, 4, 64, 32), new(2, 4, 64, 32), new(2, 4, 64, 32), new(64, 64)",
        "q, k, v, m",
        "s = (q @ k.transpose(-2, -1)) * 0.17 + m",
        "torch.softmax(s, -1) @ v",
    ),
    "rows_then_columns": (
        "new(512, 2048),",
        "x",
        "y = torch.softmax(x, -1)",
        "torch.softmax(y, 0)",
    ),
    "batch_norm_in_training": (
        "new(2, 3, 16, 16), new(8, 3, 3, 3), new(8)",
        "x, w, b",
        "y = torch.nn.functional.conv2d(x, w)",
        "torch.nn.functional.batch_norm(y, None, None, b, b, training=True)",
    ),
}


def run_of(name: str, folder: Path, *, planned: bool) -> tuple[Run, Diff]:
    """Return a case's run, measured on the CPU or planned for an H200, with its diff."""
    made, arguments, before, result = CASES[name]
    path = folder / f"{name}.py"
    body = f"    return {made}\n\n\ndef fn({arguments}):\n    {before}\n    return {result}\n"
    path.write_text(HEAD + "\n" + body)
    request = Request(
        spec=CaseSpec(name=name, path=str(path)),
        device="cuda" if planned else "cpu",
        target=TARGETS["h200"] if planned else None,
        options=CompileOptions(),
        sampling=SamplingPlan(budget_ns=20_000_000),
    )
    found = run_isolated(request, timeout_s=300, on_stage=lambda _: None)
    assert found.failure is None
    return found, analyse(found)


def only(missed: tuple[Missed, ...]) -> Missed:
    """Return the only place."""
    (one,) = missed
    return one


ASKED = [
    ("used_twice", "mm-add-to-addmm", "product_has_one_user", "has 2 users: aten::add"),
    ("viewed", "mm-add-to-addmm", "nothing_is_between", "stands aten::_unsafe_view"),
    ("other_shape", "mm-add-to-addmm", "addend_fits_product", "[64, 64] cannot be broadcast to"),
    ("other_dtype", "mm-add-to-addmm", "dtypes_are_one", "The addend is f32[64]"),
    ("written_between", "common-subexpression", "has_the_same_contents", "aten::add_.Tensor (e2"),
    ("scaled_and_masked", "sdpa-pattern", "steps_are_of_a_pattern", "product, mul, add, softmax"),
    ("batch_norm_in_training", "conv-bn-folded", "norm_is_in_eval_mode", "is in training mode"),
]


@pytest.mark.measured
@pytest.mark.parametrize(("name", "rule", "condition", "words"), ASKED, ids=lambda it: it)
def test_a_measured_near_miss(
    name: str, rule: str, condition: str, words: str, tmp_path: Path
) -> None:
    """Compiled for the CPU the rule does not apply, and the reason is the one that the case was written for."""
    told = why_not(*run_of(name, tmp_path, planned=False), rule)
    missed = only(told.missed)
    assert missed.condition == condition
    assert words in missed.why
    assert missed.source.startswith(str(tmp_path))
    assert told.applied == ()


@needs_cuda_build
@pytest.mark.measured
@pytest.mark.parametrize(("name", "rule", "condition", "words"), ASKED, ids=lambda it: it)
def test_a_planned_near_miss(
    name: str, rule: str, condition: str, words: str, tmp_path: Path
) -> None:
    """Compiled for an H200 the same condition fails."""
    missed = only(why_not(*run_of(name, tmp_path, planned=True), rule).missed)
    assert missed.condition == condition
    assert words in missed.why


@needs_cuda_build
@pytest.mark.measured
def test_two_reductions_stay_two_kernels_for_the_reason_that_the_scheduler_gave(
    tmp_path: Path,
) -> None:
    """Rows, then columns: the reader is told without asking, in the scheduler's words too."""
    found, diff = run_of("rows_then_columns", tmp_path, planned=True)
    assert diff.missed
    assert {one.rule for one in diff.missed} == {"reduction-fusion"}
    assert all(one.quote and one.launches == 1 for one in diff.missed)
    graphs = found.right.compiler.graphs if found.right.compiler else ()
    said = {refusal.reason for graph in graphs for refusal in graph.refusals or ()}
    assert {one.quote for one in diff.missed} <= said


@pytest.mark.measured
def test_on_the_cpu_one_kernel_does_both(tmp_path: Path) -> None:
    """Nothing is missed where nothing was kept apart."""
    _, diff = run_of("rows_then_columns", tmp_path, planned=False)
    assert diff.missed == ()
