"""What a device's timeline shows, and what it must not be taken for."""

import msgspec
import pytest

from compdiff.findings.engine import find
from compdiff.model import Diff, Kernel, Launch, Run
from tests.findings.timelines import (
    EMPTY,
    GEMM_NN,
    GEMM_TN,
    MICROSECOND,
    SEEDED,
    TIMELINES,
    Side,
    copying,
    name_of,
    row,
    shown,
    with_fate,
)


def found(run: Run, diff: Diff = EMPTY) -> list[str]:
    """Return the ids of a run's findings."""
    return [finding.id for finding in find(run, diff).findings]


def numbers(name: str) -> dict[str, int | float | str]:
    """Return the numbers of the finding that a timeline shows."""
    return find(*TIMELINES[name]).findings[0].numbers


@pytest.mark.parametrize("name", TIMELINES)
def test_both_sides_are_looked_at(name: str) -> None:
    """What one side shows is found on the other side too."""
    run, diff = TIMELINES[name]
    turned = msgspec.structs.replace(run, left=run.right, right=run.left)
    sides = {finding.side for finding in find(turned, diff).findings}
    of_both = name in {"other-kernel", "same-kernel", "other-launch"}
    assert sides == ({"difference"} if of_both else {"right"})


def test_the_kernel_that_takes_most_is_named() -> None:
    """A device-bound side says where its time goes."""
    assert numbers("device-bound") == {
        "busy_percent": 97.0,
        "longest": name_of(1),
        "longest_percent": 75.0,
    }


def test_kernels_of_a_replayed_graph_are_not_launched_each() -> None:
    """Small kernels inside a CUDA graph are what the advice asks for."""
    launches = (Launch(id=0, name="cudaGraphLaunch"),)
    assert found(*shown(Side(row(*[2] * 9), launches=launches))) == []


def test_few_small_kernels_are_no_finding() -> None:
    """Three short kernels are not worth a CUDA graph."""
    assert found(*shown(Side(row(2, 2, 2)))) == []


def test_a_copy_that_the_code_asks_for_is_not_hidden() -> None:
    """`aten::copy_` copies, and says so."""
    assert found(*shown(copying("aten::copy_"))) == []


def test_the_seed_of_a_bias_has_a_finding_of_its_own() -> None:
    """The same copy is not told twice."""
    diff = msgspec.structs.replace(EMPTY, rewrites=(SEEDED,))
    run, _ = shown(Side(row(100)), copying("aten::addmm"))
    assert found(run, diff) == ["bias-seed-copy"]


def test_the_same_kernel_is_the_same_work() -> None:
    """Equal names are no finding."""
    assert found(*with_fate("kept", GEMM_TN, GEMM_TN)) == []


def test_both_names_of_a_kept_op_are_shown() -> None:
    """The reader compares the names."""
    assert numbers("other-kernel") == {
        "count": 1,
        "first": f"{GEMM_TN} -> {GEMM_NN}",
        "differs_in": "layout tn -> nn",
    }


def test_other_grids_are_other_work() -> None:
    """A kernel with a larger grid may take longer."""
    *alike, larger = row(*[20] * 9, 90, name=GEMM_TN)
    kernels = (*alike, msgspec.structs.replace(larger, grid=(8, 1, 1)))
    assert found(*shown(Side(kernels))) == []


def test_a_wait_is_measured_from_the_first_op() -> None:
    """The step's time before the first op is not the device's wait."""
    assert numbers("late-start")["wait_ns"] == 80 * MICROSECOND


def test_host_functions_are_no_kernels() -> None:
    """C++ functions of a CPU side are not taken for a device's."""
    functions = tuple(
        Kernel(id=number, name="cpp_fused_add_0", kind="cpp", duration_ns=10) for number in range(9)
    )
    assert found(*shown(Side(functions, launches=()))) == []
