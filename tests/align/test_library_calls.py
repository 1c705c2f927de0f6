"""Library calls that stand for several op calls: patterns, what folds into them, what they do a part of."""

import msgspec
import pytest

from compdiff.model import Diff, OpCall
from tests.align.test_by_names import calls, compared, kernels, origins, side
from tests.builders import op


def named(*names: str) -> tuple[OpCall, ...]:
    """Return op calls of any namespace, of which only the names are known."""
    return tuple(
        msgspec.structs.replace(call, name=name) for call, name in zip(calls(*names), names, strict=True)
    )  # fmt: skip


def fates(diff: Diff) -> list[str]:
    """Return the rules that claimed the op calls, in left order."""
    rules = {rewrite.id: rewrite.rule for rewrite in diff.rewrites}
    return [rules.get(fate.rewrite or "", fate.fate) for fate in diff.fates.values()]


def test_attention_has_all_its_views() -> None:
    """From the transposed key to the view of the result; the view before the key is not of it."""
    left = calls(
        "view", "transpose", "expand", "view", "bmm", "_unsafe_view", "mul", "_softmax", "expand", "bmm", "_unsafe_view"
    )  # fmt: skip
    right = calls("_scaled_dot_product_flash_attention")
    diff = compared(left, side(right, (), "o0"))
    assert origins(diff)["c0"] == tuple(f"e{number}" for number in range(1, 11))
    assert fates(diff)[1:] == ["sdpa-pattern"] * 10


def test_the_kernel_that_prepares_attention_is_part_of_it() -> None:
    """It is named after the call that follows."""
    made = kernels("triton_poi_fused__scaled_dot_product_flash_attention_clone_0")
    left = calls("clone", "bmm", "_softmax", "bmm")
    diff = compared(left, side(calls("_scaled_dot_product_flash_attention"), made, "k0 o0"))
    assert origins(diff)["k0"] == origins(diff)["c0"] == ("e0", "e1", "e2", "e3")


@pytest.mark.parametrize(
    ("left", "after", "mine", "rules"),
    [
        (("convolution", "native_batch_norm", "relu"), "triton_poi_fused_0", 3,
         ["compiler-pattern", "conv-bn-folded", "epilogue-fusion"]),
        (("convolution", "relu"), "triton_poi_fused_relu_0", 1, ["compiler-pattern", "lowered-to-kernel"]),
        (("convolution", "sum", "relu"), "triton_per_fused_sum_0", 1,
         ["compiler-pattern", "lowered-to-kernel", "unexplained"]),
    ],
)  # fmt: skip
def test_what_follows_a_convolution_runs_in_it_unless_a_kernel_is_named_after_it(
    left: tuple[str, ...], after: str, mine: int, rules: list[str]
) -> None:
    """Only what comes right after it, and is in no kernel after the call."""
    right = named("mkldnn::_convolution_pointwise")
    diff = compared(calls(*left), side(right, kernels(after), "o0 k0"))
    assert len(origins(diff)["c0"]) == mine
    assert fates(diff) == rules


def test_sizes_tell_products_apart() -> None:
    """An addmm that reads other matrices stands for another product."""
    first, second = (op(n, "aten::mm", ((n + 2, 8), (8, 8)), (n + 2, 8)) for n in (0, 2))
    add = op(1, "aten::add"), op(3, "aten::add")
    right = op(0, "aten::addmm", ((8,), (4, 8), (8, 9)), (4, 9))
    diff = compared((first, add[0], second, add[1]), side((right,), (), "o0"))
    assert origins(diff)["c0"] == ("e2", "e3")


def test_an_addition_may_come_again_after_the_call() -> None:
    """A later kernel that is named after another addition does not speak against the pattern."""
    left = calls("mm", "add", "mul", "add")
    made = kernels("triton_poi_fused_add_mul_0")
    diff = compared(left, side(calls("addmm"), made, "o0 k0"))
    assert origins(diff) == {"c0": ("e0", "e1"), "k0": ("e2", "e3")}


def test_a_kept_convolution_takes_the_batch_norm_that_nothing_else_does() -> None:
    """Where a kernel is named after the batch norm, that kernel does it."""
    left = calls("convolution", "cudnn_batch_norm", "relu")
    folded = compared(left, side(calls("convolution"), kernels("triton_poi_fused_relu_0"), "o0 k0"))
    assert origins(folded)["c0"] == ("e0", "e1")
    name = "triton_poi_fused__native_batch_norm_legit_no_training_relu_0"
    made = compared(left, side(calls("convolution"), kernels(name), "o0 k0"))
    assert origins(made) == {"c0": ("e0",), "k0": ("e1", "e2")}


def test_a_fallback_is_part_of_the_op_around_it() -> None:
    """The kernels on both sides of it are named after that op, and a row says that it can be."""
    name = "max_pool2d_with_indices_backward"
    made = kernels(f"triton_poi_fused_{name}_0", f"triton_poi_fused_{name}_1")
    left = tuple(msgspec.structs.replace(call, phase="backward") for call in calls(name))
    right = tuple(
        msgspec.structs.replace(call, phase="backward") for call in calls("scatter_reduce_", "copy_")
    )  # fmt: skip
    diff = compared(left, side(right, made, "k0 o0 k1 o1"))
    assert origins(diff) == {"k0": ("e0",), "c0": ("e0",), "k1": ("e0",), "c1": ()}
