"""Tests of compdiff.capture.refusals: whose words belong to which calls of the wrapper."""

from compdiff.capture.refusals import Declined, refusals
from compdiff.model import Refusal

OPERATIONS = {
    "triton_0:1": frozenset({"op0", "op1"}),
    "triton_1:2": frozenset({"op2"}),
    "extern:3": frozenset({"op3"}),
}
HANDLES = list(OPERATIONS)


def declined(first: str, second: str, reason: str) -> Declined:
    """Return what the scheduler said of two groups of operations."""
    return Declined(frozenset(first.split()), frozenset(second.split()), ("buf",), reason)


def test_the_last_words_count() -> None:
    """The scheduler fuses in rounds and says why again in each."""
    said = [declined("op0 op1", "op2", "early"), declined("op0 op1", "op2", "late")]
    assert refusals(said, HANDLES, OPERATIONS) == (
        Refusal(first=0, second=1, tensors=("buf",), reason="late"),
    )


def test_words_about_all_count_more_than_words_about_parts() -> None:
    """What was said of a part later does not replace what was said of the whole."""
    said = [declined("op0 op1", "op2", "whole"), declined("op1", "op2", "part")]
    assert [(it.reason, it.whole) for it in refusals(said, HANDLES, OPERATIONS)] == [
        ("whole", True)
    ]


def test_words_about_parts_are_kept_as_such() -> None:
    """Where nothing was said of the whole."""
    (only,) = refusals([declined("op1", "op2", "part")], HANDLES, OPERATIONS)
    assert not only.whole


def test_groups_of_one_kernel_or_of_several_are_left_out() -> None:
    """Two groups that became one kernel were not kept apart, and a group that was split is no kernel."""
    said = [declined("op0", "op1", "then fused"), declined("op1 op2", "op3", "split again")]
    assert refusals(said, HANDLES, OPERATIONS) == ()


def test_unknown_operations_are_left_out() -> None:
    """A group without a call (a view, a no-op) is none."""
    assert refusals([declined("op9", "op2", "nop")], HANDLES, OPERATIONS) == ()
