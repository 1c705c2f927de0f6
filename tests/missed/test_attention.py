"""Tests of compdiff.missed.attention: each condition with its sentence."""

import pytest

from compdiff.missed.attention import SDPA
from compdiff.missed.place import Site
from compdiff.model import OpCall, TensorMeta
from tests.missed.calls import call, value
from tests.missed.graphs import reasons, site

Q, K, V = (value(number, 8, 64, 32) for number in (0, 1, 2))
MASK = value(3, 64, 64)


def attention(
    *steps: tuple[str, tuple[TensorMeta, ...]],
    qkv: tuple[TensorMeta, TensorMeta, TensorMeta] = (Q, K, V),
    returned: tuple[int, ...] = (),
) -> Site:
    """Return a run with a product, these steps with what each takes beside the scores, a softmax and a product."""
    query, key, weighted = qkv
    scores = value(10, 8, 64, 64, dtype=query.dtype, device=query.device)
    calls: list[OpCall] = [call(0, "aten::bmm", (query, key), scores)]
    for number, (name, others) in enumerate((*steps, ("aten::_softmax", ())), start=1):
        after = value(10 + number, 8, 64, 64, dtype=query.dtype, device=query.device)
        calls.append(call(number, name, (scores, *others), after))
        scores = after
    out = value(50, 8, 64, 32)
    calls.append(call(len(calls), "aten::bmm", (scores, weighted), out))
    return site(left=tuple(calls), left_outputs=(50, *returned))


SINGLE = tuple(value(number, 8, 64, 32, dtype="float32") for number in (0, 1, 2))
PLACES = {
    "steps_are_of_a_pattern": (
        attention(("aten::mul", ()), ("aten::add", (MASK,))),
        (
            "No pattern of torch 2.14 has these steps: product, mul, add, softmax, product. Before the softmax they know "
            "a scale by mul or div, div then add, div or nothing then masked_fill, div then where, or add alone."
        ),
    ),
    "results_are_read_once": (
        attention(("aten::div", ()), returned=(11,)),
        "aten::div bf16[8, 64, 64] is read by the function's caller too: the patterns take results that nothing else reads.",
    ),
    "operands_are_alike": (
        attention(("aten::div", ()), qkv=(Q, K, SINGLE[2])),
        (
            "Query, key and value are bf16[8, 64, 32], bf16[8, 64, 32], f32[8, 64, 32]: the patterns ask for one dtype and "
            "device."
        ),
    ),
    "mask_has_a_fitting_dtype": (
        attention(("aten::div", ()), ("aten::add", (value(3, 64, 64, dtype="float16"),))),
        "The mask is f16[64, 64], and the query bfloat16: the patterns take a mask of that dtype, float32 or bool.",
    ),
    "is_not_float32_on_cuda": (
        attention(("aten::div", ()), qkv=(SINGLE[0], SINGLE[1], SINGLE[2])),
        (
            "Query, key and value are float32 on a GPU: the patterns then ask that TF32 is allowed, which it is not by "
            "default (torch.set_float32_matmul_precision('high') allows it; a run does not say if it was)."
        ),
    ),
}


@pytest.mark.parametrize("condition", [need.name for need in SDPA.needs])
def test_written_out_attention_that_stayed_so_says_why(condition: str) -> None:
    """Each condition fails at a place made for it."""
    where, sentence = PLACES[condition]
    assert reasons(SDPA, where) == [(condition, sentence)]


def test_an_expand_to_the_same_shape_is_no_step() -> None:
    """It gives the value that it takes: the chain goes on from the softmax itself."""
    where = attention(("aten::mul", ()))
    calls = list(where.run.left.op_calls)
    softmax = calls[2].outputs[0]
    calls.insert(3, call(9, "aten::expand", (softmax,), softmax))
    expanded = site(left=tuple(calls), left_outputs=(50,))
    ((condition, sentence),) = reasons(SDPA, expanded)
    assert condition == ""
    assert "product, mul, softmax, product" in sentence


def test_a_softmax_without_products_is_no_place() -> None:
    """A softmax of an input is no attention."""
    where = site(left=(call(0, "aten::_softmax", (MASK,), value(9, 64, 64)),), left_outputs=(9,))
    assert reasons(SDPA, where) == []
