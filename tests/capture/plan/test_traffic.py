"""How many bytes generated kernels move."""

from pathlib import Path

import pytest

from compdiff.capture.isolation import run_isolated
from compdiff.model import CaseSpec, CompileOptions, Kernel, Request
from compdiff.targets import TARGETS
from tests.capture.cuda_build import needs_cuda_build

_CASE = '''"""One."""
import torch


def inputs(device, dtype):
    return (torch.randn(64, 1024, device=device, dtype=torch.float32),)


def fn(x):
    return {body}
'''


def kernels(folder: Path, body: str) -> list[Kernel]:
    """Return the generated kernels of the plan of a case."""
    path = folder / "one.py"
    path.write_text(_CASE.replace("{body}", body))
    request = Request(
        spec=CaseSpec(name="one", path=str(path)),
        device="cuda",
        target=TARGETS["h200"],
        options=CompileOptions(),
    )
    run = run_isolated(request, timeout_s=300, on_stage=lambda _: None)
    assert run.failure is None
    return [kernel for kernel in run.right.kernels if kernel.kind == "triton"]


@needs_cuda_build
@pytest.mark.measured
@pytest.mark.parametrize(
    ("body", "read", "written"),
    [
        ("x.relu()", 64 * 1024 * 4, 64 * 1024 * 4),
        ("x[:2, :8].relu()", 2 * 8 * 4, 2 * 8 * 4),
        ("x[0] * x[1, :, None]", 2 * 1024 * 4, 1024 * 1024 * 4),
        ("x.sum(1)", 64 * 1024 * 4, 64 * 4),
        ("torch.softmax(x, -1)", 64 * 1024 * 4, 64 * 1024 * 4),
    ],
)
def test_counts_what_is_loaded_and_stored(
    tmp_path: Path, body: str, read: int, written: int
) -> None:
    """A slice counts as a slice, a broadcast row once, what stays in registers not at all."""
    (kernel,) = kernels(tmp_path, body)
    assert kernel.estimate is not None
    assert (kernel.estimate.bytes_read, kernel.estimate.bytes_written) == (read, written)
