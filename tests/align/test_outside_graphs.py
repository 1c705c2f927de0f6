"""Gradients handed over, taken as they are on one side and copied on the other."""

import msgspec

from compdiff.analysis import analyse
from compdiff.model import Diff, OpCall
from tests.builders import Shape, capture, compiler, graph, op, run

_NODE = "torch::autograd::AccumulateGrad"


def taken(number: int, shape: Shape) -> OpCall:
    """Return the call that takes a gradient as it is."""
    return op(number, "aten::detach", (shape,), shape, phase="backward", autograd_node=_NODE)


def copied(number: int, shape: Shape) -> tuple[OpCall, OpCall]:
    """Return the calls that copy a gradient."""
    made = op(number, "aten::empty_strided", (), shape, phase="backward", autograd_node=_NODE)
    fill = op(
        number + 1, "aten::copy_", (shape, shape), shape, phase="backward", autograd_node=_NODE
    )
    return made, fill


def compared(left: tuple[OpCall, ...], right: tuple[OpCall, ...]) -> Diff:
    """Return the diff of two backward passes, the right one with a compiled graph beside it."""
    made = capture(op_calls=right, compiler=compiler((graph(),)))
    return analyse(msgspec.structs.replace(run(), left=capture(op_calls=left), right=made))


def test_a_copy_stands_for_the_gradient_of_its_shape() -> None:
    """Gradients of other shapes are other gradients, in whatever order they come."""
    diff = compared(
        (taken(0, (4, 4)), taken(1, (8, 2)), taken(2, (3,))),
        (*copied(0, (3,)), *copied(2, (8, 2)), taken(4, (4, 4))),
    )
    assert diff.fates["e0"].fate == "kept"
    assert diff.origins["c0"].op_calls == diff.origins["c1"].op_calls == ("e2",)
    assert diff.origins["c2"].op_calls == diff.origins["c3"].op_calls == ("e1",)
    assert {rewrite.rule for rewrite in diff.rewrites} == {"gradient-copied"}


def test_a_gradient_of_another_shape_is_no_partner() -> None:
    """What has none stays unexplained."""
    diff = compared((taken(0, (4, 4)),), copied(0, (5, 5)))
    assert diff.fates["e0"].fate == "unexplained"
    assert diff.rewrites == ()


def test_calls_taken_are_gradients_of_their_own() -> None:
    """Several gradients taken on the right are not one group that stands for whatever comes first."""
    diff = compared(copied(0, (6, 6)), (taken(0, (2, 2)), taken(1, (6, 6))))
    assert diff.origins["c1"].op_calls == ("e0", "e1")
    assert diff.origins["c0"].op_calls == ()
