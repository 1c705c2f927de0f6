"""One case compiled one way, and its outputs compared."""

from pathlib import Path

import pytest
import torch

from compdiff.capture.compared import compare_outputs
from compdiff.model import CaseSpec, CompileOptions, Option, OutputCheck, Request, Run
from compdiff.precision.verdict import ALREADY_SET, UNKNOWN_OPTION

CASE = """
import torch

def inputs(device, dtype):
    return (torch.ones(4, device=device, dtype=dtype),)

def fn(x):
    return x + 1e-3 if torch.compiler.is_compiling() else x
"""


def checked(folder: Path, check: OutputCheck, backend: str = "eager") -> Run:
    """Return the run of a case whose compiled output is larger by 0.001 than that of eager mode."""
    path = folder / "one.py"
    path.write_text(CASE)
    request = Request(
        spec=CaseSpec(name="one", path=str(path), form="fn"),
        device="cpu",
        options=CompileOptions(backend=backend),
        check=check,
    )
    torch.compiler.reset()
    return compare_outputs(request, progress=lambda _: None, save=lambda _: None)


@pytest.mark.parametrize(("atol", "within"), [(1e-4, False), (1e-2, True)])
def test_the_tolerance_asked_for_is_the_rule(tmp_path: Path, atol: float, *, within: bool) -> None:
    """It stands in the place of that of the dtype."""
    numerics = checked(tmp_path, OutputCheck(rtol=0.0, atol=atol)).numerics
    assert numerics is not None
    assert numerics.within is within


@pytest.mark.parametrize(
    ("options", "told"),
    [({"no_such_option": True}, UNKNOWN_OPTION), ({"freezing": False}, ALREADY_SET)],
)
def test_what_tells_nothing_is_not_run(
    tmp_path: Path, options: dict[str, Option], told: str
) -> None:
    """An option that is unknown, or has the value already, is said to be so."""
    run = checked(tmp_path, OutputCheck(options=options), backend="inductor")
    assert [it.id for it in run.warnings] == [told]
    assert run.numerics is None


def test_full_float32_is_put_back(tmp_path: Path) -> None:
    """The precision of products is that of before afterwards."""
    before = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32
    torch.backends.cudnn.allow_tf32 = True
    try:
        assert checked(tmp_path, OutputCheck(full_float32=True)).numerics is not None
        assert torch.backends.cudnn.allow_tf32
    finally:
        torch.backends.cudnn.allow_tf32 = before[1]
    assert torch.get_float32_matmul_precision() == before[0]
