"""What is read from the names of kernels."""

import msgspec
import pytest

from compdiff.findings.engine import find
from compdiff.findings.kernel_names import differences
from tests.builders import op
from tests.findings.timelines import GEMM_NN, GEMM_TN, TIMELINES, Side, row, shown, with_fate

COPY = "Memcpy DtoD (Device -> Device)"


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (GEMM_TN, GEMM_NN, ["layout tn -> nn"]),
        (
            "nvjet_tst_128x256_64x4_2x1_v_bz_coopA_TNN",
            "nvjet_tst_64x256_64x6_2x1_v_bz_coopA_TNN",
            ["tile 128x256x64 -> 64x256x64", "stages 4 -> 6"],
        ),
        (GEMM_TN, "attend_to_all", []),
        (GEMM_TN, GEMM_TN, []),
    ],
)
def test_in_what_two_names_differ(before: str, after: str, words: list[str]) -> None:
    """The parts that the names hold are compared, not their letters."""
    assert differences(before, after) == words


REDUCE = "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, A> >({})"


@pytest.mark.parametrize(
    ("left", "right", "words"),
    [
        ((GEMM_TN,), (GEMM_TN, COPY), f"also {COPY}"),
        ((COPY, GEMM_TN), (GEMM_TN,), f"no more {COPY}"),
        ((COPY, GEMM_TN), (GEMM_NN, COPY), "layout tn -> nn"),
        ((GEMM_TN,), (GEMM_TN, GEMM_TN), "order or number of launches"),
        (
            (REDUCE.format("int"),),
            (REDUCE.format("long"),),
            "arguments of the template or of the name only",
        ),
    ],
)
def test_in_what_the_kernels_of_an_op_differ(
    left: tuple[str, ...], right: tuple[str, ...], words: str
) -> None:
    """Kernels that both sides launch are set aside before names are compared."""
    run, diff = with_fate("kept", GEMM_TN, GEMM_NN)
    sides = [
        Side(
            tuple(row(100, name=name, op_call=0)[0] for name in names), op_calls=(op(0),)
        ).capture()
        for names in (left, right)
    ]
    run = msgspec.structs.replace(run, left=sides[0], right=sides[1])
    (found,) = [it for it in find(run, diff).findings if it.id == "other-kernel"]
    assert found.numbers["differs_in"] == words


def test_copies_of_one_name_are_not_the_same_work() -> None:
    """Every copy within the device has one name, whatever it copies."""
    assert find(*with_fate("rewritten", COPY, COPY)).findings == ()


def test_unknown_names_are_listed_once_each() -> None:
    """The reader sees how much is not known, and its names."""
    (found,) = find(*TIMELINES["unknown-kernels"]).findings
    assert found.numbers == {
        "count": 2,
        "of_kernels_percent": 100.0,
        "names": "attend_to_all",
        "other_names": 0,
    }


def test_generated_kernels_are_known_by_their_kind() -> None:
    """Inductor gave the name: what it fuses stands in the report."""
    assert find(*shown(Side(row(100, kind="triton", name="my_kernel")))).findings == ()


@pytest.mark.parametrize(
    ("left", "right", "seen"),
    [
        ({"grid": (64,)}, {"grid": (32,)}, True),
        ({"block": (128,)}, {"block": (256,)}, True),
        ({}, {}, False),
    ],
)
def test_a_kernel_launched_otherwise(
    left: dict[str, object], right: dict[str, object], *, seen: bool
) -> None:
    """The same name with another grid or block is other work; the same launch is not."""
    run, diff = shown(Side(row(100, name=GEMM_TN, **left)), Side(row(100, name=GEMM_TN, **right)))
    assert [it.id for it in find(run, diff).findings] == (["other-launch"] if seen else [])


@pytest.mark.parametrize(("right_us", "seen"), [(149, False), (151, True), (66, True), (67, False)])
def test_a_kernel_that_takes_longer(right_us: int, *, seen: bool) -> None:
    """One and a half times is told, less is not."""
    run, diff = shown(Side(row(100, name=GEMM_TN)), Side(row(right_us, name=GEMM_TN)))
    assert [it.id for it in find(run, diff).findings] == (["other-launch"] if seen else [])


def test_launches_that_one_side_has_more_of_are_not_compared() -> None:
    """Which launch of the one side is which of the other, nobody says."""
    left = Side(row(100, 100, name=GEMM_TN, grid=(64,)))
    assert find(*shown(left, Side(row(100, name=GEMM_TN, grid=(32,))))).findings == ()
