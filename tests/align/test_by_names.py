"""Alignment without a compiler's account: sequence, library calls and the names of generated kernels."""

import msgspec

from compdiff.analysis import analyse
from compdiff.model import Capture, Diff, Kernel, OpCall, Run
from tests.builders import capture, kernel, op, run
from tests.importers.traces import DATA
from tests.variants import planned_golden


def calls(*names: str) -> tuple[OpCall, ...]:
    """Return op calls of which only the names are known, as in a trace without shapes."""
    made = (op(number, f"aten::{name}") for number, name in enumerate(names))
    return tuple(msgspec.structs.replace(call, inputs=(), outputs=()) for call in made)


def kernels(*names: str) -> tuple[Kernel, ...]:
    """Return generated kernels."""
    return tuple(kernel(number, name, kind="triton") for number, name in enumerate(names))


def compared(left: tuple[OpCall, ...], right: Capture) -> Diff:
    """Return the diff of two imported sides."""
    whole = msgspec.structs.replace(
        run(), left=capture(op_calls=left, basis="imported"), right=right
    )
    return analyse(whole)


def side(op_calls: tuple[OpCall, ...], made: tuple[Kernel, ...], order: str) -> Capture:
    """Return an imported side with op calls and kernels in this order."""
    return capture(
        op_calls=op_calls, kernels=made, basis="imported", call_order=tuple(order.split())
    )


def origins(diff: Diff) -> dict[str, tuple[str, ...]]:
    """Return which op calls each right item does."""
    return {item: origin.op_calls for item, origin in diff.origins.items()}


def test_a_kernel_takes_the_ops_of_its_name() -> None:
    """Kept calls around it say where to look."""
    diff = compared(
        calls("mm", "add", "gelu", "mm", "add"),
        side(calls("mm", "mm"), kernels("triton_poi_fused_add_gelu_0"), "o0 k0 o1"),
    )
    assert origins(diff)["k0"] == ("e1", "e2")
    assert diff.fates["e4"].fate == "unexplained"


def test_two_kernels_of_one_name_take_turns() -> None:
    """Each layer's kernel has that layer's op calls."""
    diff = compared(
        calls("mm", "add", "relu", "mm", "add", "relu"),
        side(calls("mm", "mm"), kernels("triton_poi_fused_add_relu_0", "triton_poi_fused_add_relu_0"), "o0 k0 o1 k1"),
    )  # fmt: skip
    assert (origins(diff)["k0"], origins(diff)["k1"]) == (("e1", "e2"), ("e4", "e5"))


def test_reductions_are_known_by_the_kernel() -> None:
    """`red` and `per` reduce, `poi` does not."""
    left = calls("mul", "sum")
    for name, rule in (("per", "reduction-fusion"), ("poi", "pointwise-fusion")):
        made = side((), kernels(f"triton_{name}_fused_mul_sum_0"), "k0")
        assert [rewrite.rule for rewrite in compared(left, made).rewrites] == [rule]


def test_a_product_and_a_sum_became_an_addmm() -> None:
    """Both, in this order, and nothing else between them."""
    diff = compared(calls("mm", "add"), side(calls("addmm"), (), "o0"))
    (rewrite,) = diff.rewrites
    assert (rewrite.rule, rewrite.left, rewrite.right) == ("mm-add-to-addmm", ("e0", "e1"), ("c0",))
    assert {match.certainty for match in diff.matches} == {"guess"}


def test_half_a_pattern_is_none() -> None:
    """An addmm that no product and sum stand against stays unexplained."""
    diff = compared(calls("mm", "gelu"), side(calls("addmm"), (), "o0"))
    assert diff.rewrites == ()
    assert diff.fates["e0"].fate == "unexplained"


def test_views_inside_a_compiled_function_are_gone() -> None:
    """Nothing runs for them on the right; without a generated kernel nobody knows that a compiler was there."""
    left = calls("view", "mul", "add")
    inside = compared(left, side((), kernels("triton_poi_fused_add_mul_0"), "k0"))
    assert inside.fates["e0"].fate == "eliminated"
    outside = compared(left, side(calls("mul", "add"), (), "o0 o1"))
    assert outside.fates["e0"].fate == "unexplained"


def test_no_reason_is_made_up() -> None:
    """A right op call without a partner has no origin and no reason."""
    diff = compared(calls("mul"), side(calls("mul", "copy_", "view"), (), "o0 o1 o2"))
    assert diff.origins["c1"].introduced == diff.origins["c2"].introduced == ""


def test_extern_calls_are_found_by_the_shapes_of_their_inputs() -> None:
    """Compiled code hands them their output, and may call them in another order."""
    first, second = (op(n, "aten::mm", ((4, n + 2), (n + 2, 8)), (4, 8)) for n in range(2))
    right = tuple(
        op(number, "aten::mm", (*(meta.shape for meta in call.inputs), (4, 8)), (4, 8))
        for number, call in enumerate((second, first))
    )
    diff = compared((first, second), side(right, (), "o0 o1"))
    assert origins(diff) == {"c0": ("e1",), "c1": ("e0",)}


def test_a_plan_is_aligned_nearly_as_well_without_provenance() -> None:
    """What the compiler said of a GeGLU MLP and what names tell of it is the same."""
    planned, known = planned_golden("mlp_geglu")
    assert origins(analyse(hidden(planned))) == origins(known)


def hidden(whole: Run) -> Run:
    """Return a run without what a compiler said."""
    bare = [
        msgspec.structs.replace(made, graph=None, call=None)
        for made in (*whole.right.op_calls, *whole.right.kernels)
    ]
    right = msgspec.structs.replace(
        whole.right,
        compiler=None,
        op_calls=tuple(made for made in bare if isinstance(made, OpCall)),
        kernels=tuple(made for made in bare if isinstance(made, Kernel)),
    )
    return msgspec.structs.replace(whole, right=right)


def test_names_are_laid_over_in_order() -> None:
    """Each sum has its own kernel although the scheduler moved the first before the product that eager mode runs first."""
    diff = compared(
        calls("log_softmax", "mm", "sum", "gelu", "mm", "sum"),
        side(
            calls("mm", "mm"),
            kernels("triton_per_fused_log_softmax_sum_0", "triton_per_fused_gelu_sum_1"),
            "k0 o0 k1 o1",
        ),
    )
    assert origins(diff)["k0"] == ("e0", "e2")
    assert origins(diff)["k1"] == ("e3", "e5")


def test_several_calls_of_one_name_share_a_kernel() -> None:
    """A name stands once for all of them, in place or not."""
    diff = compared(
        calls("mul_", "add_", "mul"), side((), kernels("triton_poi_fused_add_copy__mul_0"), "k0")
    )
    assert origins(diff)["k0"] == ("e0", "e1", "e2")


def test_one_call_is_in_all_kernels_of_its_name() -> None:
    """Nothing else can be what the second kernel is named after."""
    made = kernels("triton_red_fused__softmax_0", "triton_poi_fused__softmax_1")
    diff = compared(calls("_softmax"), side((), made, "k0 k1"))
    assert origins(diff) == {"k0": ("e0",), "k1": ("e0",)}


def in_backward(call: OpCall, sequence: int) -> OpCall:
    """Return an op call of an autograd node."""
    return msgspec.structs.replace(
        call, phase="backward", autograd_node="GeluBackward0", sequence=sequence
    )


def test_a_backward_kernel_that_names_a_forward_op_computes_it_again() -> None:
    """It does the backward of the same autograd function; the other layer's gelu is not in it."""
    left = calls("gelu", "gelu", "gelu_backward", "gelu_backward")
    left = (
        msgspec.structs.replace(left[0], sequence=1),
        msgspec.structs.replace(left[1], sequence=2),
        in_backward(left[2], 2),
        in_backward(left[3], 1),
    )
    made = kernels(
        "triton_poi_fused_gelu_0", "triton_poi_fused_gelu_1",
        "triton_poi_fused_gelu_gelu_backward_0", "triton_poi_fused_gelu_backward_1",
    )  # fmt: skip
    diff = compared(left, side((), made, "k0 k1 k2 k3"))
    assert origins(diff) == {"k0": ("e0",), "k1": ("e1",), "k2": ("e1", "e2"), "k3": ("e3",)}
    assert diff.origins["k2"].recomputed == ("e1",)
    assert diff.origins["k1"].recomputed == ()


def test_a_kernel_before_a_convolution_is_not_its_work() -> None:
    """It is named after the convolution whose input it copies; nothing is known of it."""
    diff = compared(
        calls("convolution"),
        side(
            (msgspec.structs.replace(calls("x")[0], name="mkldnn::_convolution_pointwise"),),
            kernels("triton_poi_fused_convolution_0"),
            "k0 o0",
        ),
    )
    assert origins(diff) == {"c0": ("e0",), "k0": ()}
    assert [rewrite.rule for rewrite in diff.rewrites] == ["compiler-pattern"]


def test_an_addmm_that_was_split_is_in_the_kernel_after_it() -> None:
    """The product is called, and the addition is in the kernel that is named after both."""
    left = calls("addmm", "gelu")
    diff = compared(left, side(calls("mm"), kernels("triton_poi_fused_addmm_gelu_0"), "o0 k0"))
    assert origins(diff) == {"c0": ("e0",), "k0": ("e0", "e1")}
    assert diff.rewrites[0].rule == "addmm-unfused-bias"


def test_ops_of_one_composite_op_have_its_name() -> None:
    """Eager mode takes dropout apart, and the compiler does not."""
    left = tuple(
        msgspec.structs.replace(call, chain=("aten::dropout",)) for call in calls("bernoulli_", "div_", "mul")
    )  # fmt: skip
    diff = compared(left, side((), kernels("triton_poi_fused_native_dropout_0"), "k0"))
    assert origins(diff)["k0"] == ("e0", "e1", "e2")


def test_parts_of_one_result_share_their_calls() -> None:
    """Three kernels of the same names write the three parts of one `cat`: nobody knows which clone is in which."""
    made = kernels(*(f"triton_poi_fused_cat_clone_{number}" for number in range(3)))
    diff = compared(calls("clone", "clone", "cat"), side((), made, "k0 k1 k2"))
    assert set(origins(diff).values()) == {("e0", "e1", "e2")}


def test_data_is_there() -> None:
    """The traces that other tests read."""
    assert (DATA / "README.md").is_file()
