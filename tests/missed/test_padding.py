"""Tests of compdiff.missed.padding: each condition with its sentence."""

import pytest

from compdiff.missed.padding import PADDED
from compdiff.missed.place import Site
from compdiff.model import PassEvent, Target
from compdiff.targets import TARGETS
from tests.builders import node, tensor
from tests.missed.graphs import given, made, reasons, returned, site


def product(  # noqa: PLR0913 - the numbers of a product
    m: int,
    k: int,
    n: int,
    *,
    dtype: str = "bfloat16",
    device: str = "cuda:0",
    target: Target | None = None,
    padding: bool = True,
    passes: tuple[PassEvent, ...] = (),
) -> Site:
    """Return a run of one matrix product."""
    return site(
        given("x", m, k, dtype=dtype, device=device),
        given("w", k, n, dtype=dtype, device=device),
        made("mm", "aten.mm.default", "x", "w", gives=tensor(m, n, dtype=dtype, device=device)),
        returned("mm"),
        target=target,
        passes=passes,
        options={} if padding else {"shape_padding": False},
    )


PLACES = {
    "is_on_a_gpu": (
        product(63, 63, 63, device="cpu"),
        "aten::mm (mm) runs on cpu: Inductor pads for tensor cores, on a GPU alone.",
    ),
    "padding_is_on": (product(63, 63, 63, padding=False), "The option shape_padding is off."),
    "dtype_is_padded": (
        product(63, 63, 63, dtype="float64"),
        "The matrices are f64[63, 63] and f64[63, 63]: Inductor pads 16-bit floats and float32 alone.",
    ),
    "some_size_is_unaligned": (
        product(64, 128, 1),
        "Nothing to pad: m = 64, k = 128, n = 1 are all multiples of 8, or 1.",
    ),
    "is_compute_bound": (
        product(63, 64, 64, target=TARGETS["h200"]),
        (
            "The product (m = 63, k = 64, n = 64) is memory-bound by Inductor's rule: 21.2 multiplications for each element "
            "moved, and padding begins above 103."
        ),
    ),
}


@pytest.mark.parametrize("condition", [need.name for need in PADDED.needs])
def test_a_product_that_was_not_padded_says_why(condition: str) -> None:
    """Each condition fails at a place made for it."""
    where, sentence = PLACES[condition]
    assert reasons(PADDED, where) == [(condition, sentence)]


def test_what_only_the_gpu_decides_is_said_so() -> None:
    """Where the sizes allow it and the GPU's rates are not known, nothing is claimed."""
    ((condition, sentence),) = reasons(PADDED, product(4095, 4095, 4095))
    assert condition == ""
    assert "times both ways" in sentence


def test_a_padded_product_is_no_place() -> None:
    """The pass that padded it removed the node."""
    padded = PassEvent(
        stage="joint",
        pass_name="pad_mm",
        location="torch/_inductor/fx_passes/pad_mm.py:810",
        removed=(node("mm", "aten.mm.default"),),
    )
    assert reasons(PADDED, product(63, 63, 63, passes=(padded,))) == []


def test_a_product_of_a_matrix_with_itself_has_two_operands() -> None:
    """A node taken twice is one input and two operands."""
    square = tensor(63, 63, dtype="bfloat16", device="cuda:0")
    where = site(
        given("x", 63, 63, dtype="bfloat16"),
        made("mm", "aten.mm.default", "x", "x", gives=square),
        returned("mm"),
    )
    (place,) = PADDED.find(where)
    assert place.sizes == (63, 63, 63)
