"""Tests of compdiff.missed.conv_bn: each condition with its sentence."""

import msgspec
import pytest

from compdiff.missed.conv_bn import CONV_BN
from compdiff.missed.place import Site
from tests.missed.calls import call, value
from tests.missed.graphs import reasons, site

IMAGE, WEIGHT, CONVOLVED, NORMED = (value(number, 2, 16, 8, 8) for number in range(4))


def conv_bn(*, training: bool = False, read_twice: bool = False, frozen: bool = False) -> Site:
    """Return a run of a convolution and a batch norm."""
    norm = call(1, "aten::native_batch_norm", (CONVOLVED,), NORMED)
    arguments = f"T, T, T, T, T, {training}, 0.1, 1e-05"
    return site(
        left=(
            call(0, "aten::convolution", (IMAGE, WEIGHT), CONVOLVED),
            msgspec.structs.replace(norm, arguments=arguments),
        ),
        left_outputs=(3, 2) if read_twice else (3,),
        options={"freezing": True} if frozen else {},
    )


PLACES = {
    "norm_is_in_eval_mode": (
        conv_bn(training=True),
        (
            "aten::native_batch_norm is in training mode: it takes mean and variance of the batch, which are not "
            "known while compiling."
        ),
    ),
    "convolution_has_one_reader": (
        conv_bn(read_twice=True),
        "aten::convolution has 2 users: it is folded only where the batch norm alone reads it.",
    ),
    "weights_are_frozen": (
        conv_bn(),
        "The weights are inputs of the graph, not constants: the option freezing is off.",
    ),
}


@pytest.mark.parametrize("condition", sorted(PLACES))
def test_a_batch_norm_that_was_not_folded_says_why(condition: str) -> None:
    """Each condition fails at a place made for it."""
    where, sentence = PLACES[condition]
    assert reasons(CONV_BN, where) == [(condition, sentence)]


def test_a_graph_with_a_backward_pass_is_not_frozen() -> None:
    """What Dynamo traced into a graph that autograd needs is not folded."""
    where = conv_bn(frozen=True)
    where.facts.alignment.traces[1].compile_id = "0/1"
    ((condition, sentence),) = reasons(CONV_BN, where)
    assert condition == "no_backward_follows"
    assert "torch.no_grad()" in sentence


def test_where_all_holds_nothing_is_claimed() -> None:
    """Frozen, in eval mode, read once: compdiff knows of nothing else."""
    ((condition, sentence),) = reasons(CONV_BN, conv_bn(frozen=True))
    assert condition == ""
    assert sentence.startswith("All conditions")
