"""Tests of compdiff.missed.products: each condition with its sentence."""

import pytest

from compdiff.missed.place import Site
from compdiff.missed.products import ADDMM, UNFUSED
from compdiff.model import GraphNode, PassEvent
from tests.builders import node, tensor
from tests.missed.graphs import given, made, reasons, returned, site

SQUARE = tensor(64, 64, device="cuda:0")
MM = made("mm", "aten.mm.default", "x", "w", gives=SQUARE)
ADD = made("add", "aten.add.Tensor", "mm", "b", gives=SQUARE)
OUT = returned("add")


def inputs(*bias: int, dtype: str = "float32", device: str = "cuda:0") -> tuple[GraphNode, ...]:
    """Return x, w and a bias of this shape."""
    return (
        given("x", 64, 64, device=device),
        given("w", 64, 64, device=device),
        given("b", *bias, dtype=dtype, device=device),
    )


def viewed() -> tuple[GraphNode, ...]:
    """Return a product that is viewed before the addition."""
    cube = tensor(4, 16, 64, device="cuda:0")
    return (
        made(
            "view", "aten.reshape.default", "mm", gives=cube, original="aten._unsafe_view.default"
        ),
        made("add", "aten.add.Tensor", "view", "b", gives=cube),
    )


RELU = made("relu", "aten.relu.default", "add", gives=SQUARE)
BMM = made("mm", "aten.bmm.default", "x", "w", gives=tensor(2, 64, 64, device="cuda:0"))
SCALED = made("add", "aten.add.Tensor", "mm", "b", gives=SQUARE, arguments="mm, b, alpha=2")
SPLIT = PassEvent(
    stage="post_grad",
    pass_name="pass_pattern_2",
    pattern="unfuse_bias_add_to_pointwise",
    removed=(node("addmm", "aten.addmm.default"),),
    created=(node("mm", "aten.mm.default"), node("add")),
    replacements={"addmm": "add"},
)

ADDMM_PLACES = {
    "product_is_mm": (
        site(*inputs(64), BMM, ADD, OUT),
        "The product is aten::bmm (mm) of f32[64, 64] and f32[64, 64]: the pattern takes aten::mm alone.",
    ),
    "was_not_split_on_purpose": (
        site(*inputs(64), MM, ADD, RELU, returned("relu"), passes=(SPLIT,)),
        (
            "It was an addmm, which unfuse_bias_add_to_pointwise split so that aten::relu (relu) can add the bias "
            "f32[64] in their kernel."
        ),
    ),
    "nothing_is_between": (
        site(*inputs(4, 16, 64), MM, *viewed(), OUT),
        (
            "Between the product and the addition stands aten::_unsafe_view (view), which makes f32[4, 16, 64] of "
            "f32[64, 64]: the pattern takes an addition of the product itself."
        ),
    ),
    "product_has_one_user": (
        site(*inputs(64), MM, ADD, returned("add", "mm")),
        (
            "The product f32[64, 64] has 2 users: aten::add (add), the graph's output. The pattern takes a product that "
            "only the addition reads."
        ),
    ),
    "sum_is_unscaled": (
        site(*inputs(64), MM, SCALED, OUT),
        "The addition has an alpha (mm, b, alpha=2): the pattern takes one without.",
    ),
    "addend_fits_product": (
        site(*inputs(8, 64, 64), MM, ADD, OUT),
        "The addend f32[8, 64, 64] cannot be broadcast to the product f32[64, 64].",
    ),
    "dtypes_are_one": (
        site(*inputs(64, dtype="bfloat16"), MM, ADD, OUT),
        "The addend is bf16[64] and the matrices are f32[64, 64] and f32[64, 64]: addmm asks for one dtype.",
    ),
    "sum_belongs_in_the_gemm": (
        site(*inputs(64), MM, ADD, RELU, returned("relu")),
        (
            "The addend f32[64] is the graph's input b, and only pointwise ops read the sum (aten::relu (relu)): on a GPU "
            "Inductor adds it in their kernel."
        ),
    ),
}


@pytest.mark.parametrize("condition", [need.name for need in ADDMM.needs])
def test_a_product_that_stayed_one_says_why(condition: str) -> None:
    """Each condition fails at a place made for it, and the sentence has the numbers of the place."""
    where, sentence = ADDMM_PLACES[condition]
    assert reasons(ADDMM, where) == [(condition, sentence)]


def test_on_a_cpu_the_same_place_fulfils_all_conditions() -> None:
    """What a GPU adds in a pointwise kernel is an addmm on a CPU."""
    where = site(*inputs(64, device="cpu"), MM, ADD, RELU, returned("relu"))
    ((condition, sentence),) = reasons(ADDMM, where)
    assert condition == ""
    assert sentence.startswith("All conditions that compdiff knows of hold here")


def test_of_two_products_the_nearer_one_is_told() -> None:
    """A sum of two products, of which one has another user, is judged by the other."""
    other = made("other", "aten.mm.default", "x", "w", gives=SQUARE)
    total = made("add", "aten.add.Tensor", "mm", "other", gives=SQUARE)
    where = site(*inputs(64), MM, other, total, returned("add", "mm"))
    (place,) = ADDMM.find(where)
    assert place.product.name == "other"


ADDMM_NODE = made("add", "aten.addmm.default", "b", "x", "w", gives=SQUARE)
TANH_OF_INPUT = made("t", "aten.tanh.default", "b", gives=SQUARE)
COMPUTED = made("add", "aten.addmm.default", "t", "x", "w", gives=SQUARE)
HALVES = tuple(given(name, 64, 64, dtype="bfloat16") for name in ("x", "w", "b"))
UNFUSED_PLACES = {
    "runs_on_gpu": (
        site(*inputs(64, device="cpu"), ADDMM_NODE, RELU, returned("relu")),
        "The bias f32[64] is on cpu: Inductor splits addmm on a GPU alone.",
    ),
    "dtypes_are_one": (
        site(*inputs(64, dtype="float16"), ADDMM_NODE, RELU, returned("relu")),
        "The bias is f16[64] and the matrices are f32[64, 64] and f32[64, 64]: the split asks for one dtype.",
    ),
    "adds_a_bias": (
        site(*inputs(64, 64), TANH_OF_INPUT, COMPUTED, RELU, returned("relu")),
        (
            "The bias f32[64, 64] is computed by aten::tanh (t) and as large as the product: only an input of the "
            "graph or a broadcast tensor counts as a bias."
        ),
    ),
    "has_only_pointwise_readers": (
        site(*inputs(64), ADDMM_NODE, OUT),
        "The sum is read by the graph's output, which is not pointwise: nothing is there to add the bias in.",
    ),
    "is_not_kept_for_half": (
        site(*HALVES, ADDMM_NODE, RELU, returned("relu")),
        (
            "The bias is bf16[64, 64]: Inductor keeps addmm whole for 16-bit floats, which would be rounded once more "
            "(option keep_addmm_fused_for_half_dtypes)."
        ),
    ),
}


@pytest.mark.parametrize("condition", [need.name for need in UNFUSED.needs])
def test_an_addmm_that_stayed_one_says_why(condition: str) -> None:
    """Each condition fails at a place made for it."""
    where, sentence = UNFUSED_PLACES[condition]
    assert reasons(UNFUSED, where) == [(condition, sentence)]


@pytest.mark.parametrize(
    ("addend", "is_bias"),
    [((64,), True), ((1, 64), True), ((64, 64), False)],
)
def test_a_computed_bias_counts_if_it_is_broadcast(addend: tuple[int, ...], is_bias: bool) -> None:  # noqa: FBT001
    """As in torch: fewer dimensions, or a size of 1 where the product has more."""
    bias = made("t", "aten.tanh.default", "b", gives=tensor(*addend, device="cuda:0"))
    where = site(*inputs(*addend), bias, COMPUTED, RELU, returned("relu"))
    assert (reasons(UNFUSED, where)[0][0] != "adds_a_bias") == is_bias


def test_a_place_without_an_addition_is_none() -> None:
    """A product alone is no place."""
    where: Site = site(*inputs(64), MM, returned("mm"))
    assert list(ADDMM.find(where)) == []
