"""Views: which kernels read through them, by their names and by what comes after them."""

import msgspec

from compdiff.model import OpCall
from tests.align.test_by_names import calls, compared, kernels, origins, side
from tests.builders import op


def test_a_view_is_read_by_the_kernel_after_it() -> None:
    """If that kernel is named after it too, and the view of a matmul's result as any view."""
    left = calls("mm", "_unsafe_view", "permute", "gelu")
    diff = compared(left, side(calls("mm"), kernels("triton_poi_fused_gelu_view_0"), "o0 k0"))
    assert origins(diff)["k0"] == ("e1", "e3")
    assert diff.fates["e2"].fate == "eliminated"


def test_a_view_before_a_product_is_of_the_kernel_that_writes_it_out() -> None:
    """That kernel is named after the product and stands right before it; a later one does not read the view."""
    made = kernels("triton_poi_fused_expand_mm_t_0", "triton_poi_fused_relu_t_1")
    diff = compared(calls("expand", "t", "mm", "relu"), side(calls("mm"), made, "k0 o0 k1"))
    assert origins(diff) == {"k0": ("e0", "e1"), "c0": ("e2",), "k1": ("e3",)}


def sized(number: int, name: str, rows: int) -> OpCall:
    """Return an op call on a matrix of some rows."""
    return msgspec.structs.replace(op(number, f"aten::{name}", ((rows, 4),)), outputs=())


def test_a_view_of_another_size_is_read_by_something_else() -> None:
    """A view keeps the number of elements."""
    left = (sized(0, "view", 9), sized(1, "view", 4), sized(2, "relu", 4))
    diff = compared(left, side((), kernels("triton_poi_fused_relu_view_0"), "k0"))
    assert origins(diff)["k0"] == ("e1", "e2")


def test_the_form_of_a_gradient_is_not_read() -> None:
    """The view before a gradient is handed over belongs to no later kernel."""
    view, handed, relu = calls("view", "detach", "relu")
    handed = msgspec.structs.replace(handed, autograd_node="AccumulateGrad", phase="backward")
    diff = compared((view, handed, relu), side((), kernels("triton_poi_fused_relu_view_0"), "k0"))
    assert origins(diff)["k0"] == ("e2",)
