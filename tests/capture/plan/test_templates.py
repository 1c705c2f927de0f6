"""FLOPs of Triton templates, from the nodes that they compute."""

import pytest

from compdiff.capture.plan.templates import template_work
from compdiff.model import Graph, GraphNode
from tests.builders import graph, node, tensor


def made(name: str, target: str, *shape: int, inputs: tuple[str, ...] = ()) -> GraphNode:
    """Return a node whose result is a bfloat16 tensor of this shape."""
    return node(name, target, inputs=inputs, outputs=(tensor(*shape, dtype="bfloat16"),))


def work(*nodes: GraphNode) -> tuple[int, str]:
    """Return what a template that computes the last of some nodes, and one before it, does."""
    whole = graph(post_grad=Graph(stage="post_grad", nodes=nodes))
    return template_work(whole, [one.name for one in nodes[-2:]])


X, W, BIAS = (
    made("x", "x", 8, 32),
    made("w", "w", 32, 16),
    made("bias", "bias", 16),
)


@pytest.mark.parametrize(
    ("nodes", "flops"),
    [
        ((X, W, made("mm", "aten.mm.default", 8, 16, inputs=("x", "w"))), 2 * 8 * 16 * 32),
        (
            (X, W, BIAS, made("mm", "aten.addmm.default", 8, 16, inputs=("bias", "x", "w"))),
            2 * 8 * 16 * 32,
        ),
        ((made("x", "x", 8, 8), made("mm", "aten.mm.default", 8, 8, inputs=("x",))), 2 * 8 * 8 * 8),
        (
            (
                made("x", "x", 1, 4, 9, 9),
                made("w", "w", 6, 4, 3, 3),
                made("conv", "aten.convolution.default", 1, 6, 7, 7, inputs=("x", "w")),
            ),
            2 * 6 * 7 * 7 * 4 * 3 * 3,
        ),
        (
            (
                made("q", "q", 2, 4, 16, 8),
                made("k", "k", 2, 4, 32, 8),
                made("v", "v", 2, 4, 32, 24),
                made(
                    "flex",
                    "torch.ops.higher_order.flex_attention",
                    *(2, 4, 16, 24),
                    inputs=("q", "k", "v"),
                ),
            ),
            2 * 2 * 4 * 16 * 32 * (8 + 24),
        ),
    ],
    ids=["mm", "addmm", "square", "convolution", "attention"],
)
def test_counts_multiplications_and_additions(nodes: tuple[GraphNode, ...], flops: int) -> None:
    """At the rate of the first input's dtype."""
    assert work(*nodes) == (flops, "bfloat16")


def test_what_is_fused_into_a_template_counts_none() -> None:
    """As everywhere: pointwise ops have no formula."""
    assert work(X, W, made("relu", "aten.relu.default", 8, 32, inputs=("x",))) == (0, "float32")
