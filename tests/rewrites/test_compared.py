"""Tests of compdiff.rewrites.compared, each over two runs of which one is changed by hand."""

import pytest

from compdiff.analysis import compare, unexplained
from compdiff.model import Diff, Kernel, Rewrite, Run
from tests.builders import capture, kernel, op, run
from tests.variants import (
    golden,
    replace,
    uncompiled,
    with_op_call,
    with_other_code,
    with_split_kernel,
)

_GELU = frozenset({"mul_2", "mul", "add", "erf", "mul_1"})


def split(one: Run) -> Run:
    """Return the golden run of mlp_geglu with its kernel of gelu and mul split in two."""
    return with_split_kernel(
        one,
        one.right.kernels[0],
        ("cpp_fused_gelu_0", _GELU),
        ("cpp_fused_mul_1", frozenset({"mul_3"})),
    )


def the_change(diff: Diff) -> Rewrite:
    """Return the only rewrite."""
    (rewrite,) = diff.rewrites
    return rewrite


def launching(name: str) -> Run:
    """Return a run whose compiled side is one matrix product that launches a kernel of this name."""
    made = Kernel(id=0, name=name, kind="library", op_call=0)
    calls = (op(0, "aten::mm"),)
    return run(capture("eager", calls), capture("compiled", calls, (made,)))


def test_a_split_kernel() -> None:
    """One kernel that became two is a fusion split, with who does what now."""
    before = golden("mlp_geglu")
    _, diff = compare(before, "right", split(before), "right")
    change = the_change(diff)
    assert change.rule == "fusion-split"
    assert (change.left, change.right) == (("ek0",), ("k1", "k2"))
    assert change.why == (
        "In A one kernel, cpp_fused_gelu_mul_0, did aten::gelu and aten::mul.Tensor. "
        "In B cpp_fused_gelu_0 does aten::gelu and cpp_fused_mul_1 does aten::mul.Tensor."
    )
    assert change.source == "cases/mlp_geglu.py:22"
    assert diff.origins["k1"].op_calls == diff.origins["k2"].op_calls == ("ek0",)
    assert [fate.fate for fate in diff.fates.values()] == ["kept", "kept", "kept", "decomposed"]


def test_a_merged_kernel() -> None:
    """Two kernels that became one are a fusion merged."""
    after = golden("mlp_geglu")
    change = the_change(compare(split(after), "right", after, "right")[1])
    assert change.rule == "fusion-merged"
    assert (change.left, change.right) == (("ek1", "ek2"), ("k0",))
    assert change.why.endswith("In B one kernel, cpp_fused_gelu_mul_0, does all of it.")


def test_one_call_that_became_two() -> None:
    """A lost addmm is a split, of op calls."""
    before = golden("linear")
    change = the_change(compare(before, "right", uncompiled(before), "right")[1])
    assert change.rule == "split"
    assert change.why == (
        "In A one call, aten::addmm.out, did aten::mm and aten::add.Tensor. "
        "In B aten::mm and aten::add.Tensor run by themselves."
    )


def test_the_same_work_by_another_kernel() -> None:
    """A library call that became a generated kernel was lowered otherwise."""
    before = golden("linear")
    (call,) = before.right.op_calls
    made = kernel(0, "triton_tem_fused_addmm_0", kind="triton", graph=call.graph, call=call.call)
    after = replace(before, right=replace(before.right, op_calls=(), kernels=(made,)))
    change = the_change(compare(before, "right", after, "right")[1])
    assert change.rule == "lowered-otherwise"
    assert change.why == (
        "aten::mm and aten::add.Tensor: aten::addmm.out in A, triton_tem_fused_addmm_0 in B."
    )


def test_other_library_kernels() -> None:
    """The same op call with another kernel is told with both kernels."""
    change = the_change(compare(launching("gemm_a"), "right", launching("gemm_b"), "right")[1])
    assert change.rule == "other-kernels"
    assert change.why == "aten::mm launches gemm_b in B instead of gemm_a."


def test_launched_kernels_follow_their_op_call() -> None:
    """A kernel that an op call launched has the op call's origin, and no fate of its own."""
    _, diff = compare(launching("gemm"), "right", launching("gemm"), "right")
    assert set(diff.fates) == {"e0"}
    assert diff.origins["k0"] == diff.origins["c0"]


@pytest.mark.parametrize(
    ("swapped", "rule"), [(False, "newly-introduced"), (True, "no-longer-introduced")]
)
def test_an_introduced_item_on_one_side(swapped: bool, rule: str) -> None:  # noqa: FBT001
    """A copy that one compilation introduced says so, with the reason."""
    before = golden("linear")
    copy = op(1, "aten::copy_")
    after = replace(before, right=replace(before.right, op_calls=(*before.right.op_calls, copy)))
    runs = (after, before) if swapped else (before, after)
    _, diff = compare(runs[0], "right", runs[1], "right")
    assert the_change(diff).rule == rule
    assert "writes a result back into a tensor that the function mutates" in the_change(diff).why
    assert unexplained(diff) == (0, 0)


def test_an_op_call_that_only_b_calls() -> None:
    """Two eager sides are aligned in order; what has no partner is added, not unexplained."""
    before = golden("linear")
    after = with_op_call(before, 1, op(0, "aten::relu"))
    _, diff = compare(before, "left", after, "left")
    assert the_change(diff).rule == "op-call-added"
    assert {fate.fate for fate in diff.fates.values()} == {"kept"}
    assert diff.origins["c1"].introduced == "aten::relu is called in B only."
    _, back = compare(after, "left", before, "left")
    assert back.fates["e1"].fate == "removed"
    assert unexplained(diff) == unexplained(back) == (0, 0)


def test_compiled_against_its_own_eager_side() -> None:
    """The sides of one run in reverse: the kernel is split into the op calls it was made of."""
    one = golden("mlp_geglu")
    _, diff = compare(one, "right", one, "left")
    rules = {rewrite.rule for rewrite in diff.rewrites}
    assert rules == {"fusion-split", "newly-computed"}
    assert unexplained(diff) == (0, 0)


def test_other_code_of_the_same_kernel() -> None:
    """A kernel of the same name and work whose code differs is kept, and told as a change."""
    before = golden("mlp_geglu")
    after = with_other_code(before, "erf", "erf_u10")
    _, diff = compare(before, "right", after, "right")
    assert not diff.rewrites
    assert diff.comparison is not None
    assert [(c.what, c.name, c.items) for c in diff.comparison.changes] == [
        ("kernel", "cpp_fused_gelu_mul_0", ("ek0", "k0"))
    ]
