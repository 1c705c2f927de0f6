"""A plan against a measurement."""

from compdiff.model import Capture, Kernel
from compdiff.plan_accuracy import agreement
from tests.builders import capture, kernel, op


def side(basis: str, *kernels: Kernel, device: str = "cuda:0") -> Capture:
    """Return a side on a GPU whose op call 0 is a matrix product."""
    calls = (op(0, "aten::mm"),)
    return capture(basis=basis, device=device, op_calls=calls, kernels=kernels)


def gemm(number: int, name: str) -> Kernel:
    """Return a library kernel of the matrix product."""
    return kernel(number, name, kind="library", op_call=0)


def generated(number: int, name: str) -> Kernel:
    """Return a Triton kernel."""
    return kernel(number, name, kind="triton")


def test_a_right_plan_has_nothing_wrong() -> None:
    """Library kernels are known by their op: their names are cuBLAS's business."""
    found = agreement(
        side("planned", gemm(0, "aten::mm (gemm)"), generated(1, "triton_a")),
        side("measured", gemm(0, "nvjet_tst_128x256"), generated(1, "triton_a")),
    )
    assert found is not None
    assert (found.foreseen, found.measured, found.wrong) == (2, 2, ())


def test_says_what_is_missing_extra_and_renamed() -> None:
    """Each kind of mistake has a sentence, whichever side the plan is."""
    found = agreement(
        side("measured", gemm(0, "nvjet"), generated(1, "triton_b"), generated(2, "triton_c")),
        side("planned", generated(0, "triton_a")),
    )
    assert found is not None
    assert found.foreseen == 0
    assert found.wrong == (
        "other name: triton_a was planned, triton_b was seen",
        "missing in the plan: library kernel of aten::mm",
        "missing in the plan: triton_c",
    )


def test_two_sides_of_a_kind_are_not_judged() -> None:
    """Only a plan can be wrong, and only a GPU can say so."""
    assert agreement(side("planned"), side("planned")) is None
    assert agreement(side("planned"), side("measured", device="cpu")) is None
