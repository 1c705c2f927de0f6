"""Kernels of the right side: where they stand, and in which pass they run."""

import msgspec

from compdiff.align.guesses import RightSide, right_side
from compdiff.align.lineage import Lineage
from compdiff.align.traces import Alignment
from compdiff.model import Phase
from tests.align.test_by_names import calls, kernels, side
from tests.builders import capture


def seen(names: tuple[str, ...], phases: str, order: str) -> RightSide:
    """Return a right side with such kernels, and op calls of the phases `f` and `b`."""
    words: dict[str, Phase] = {"f": "forward", "b": "backward"}
    made = tuple(
        msgspec.structs.replace(call, phase=words[letter])
        for call, letter in zip(calls(*("mm",) * len(phases)), phases, strict=True)
    )
    right = side(made, kernels(*names), order)
    return right_side(Alignment(capture(), right, [], Lineage({}, {}), {}, []))


def phases(found: RightSide) -> str:
    """Return the first letters of the kernels' phases."""
    return "".join(kernel.phase[0] for kernel in found.kernels)


def test_kernels_have_the_phase_of_the_calls_around_them() -> None:
    """Where these agree."""
    made = tuple(f"triton_poi_fused_add_{number}" for number in range(2))
    assert phases(seen(made, "ffbb", "o0 k0 o1 o2 k1 o3")) == "fb"


def test_a_backward_graph_begins_with_its_numbers() -> None:
    """A number that another kernel has is of another graph; the same kernel may run again."""
    made = (
        "triton_poi_fused_tanh_0",
        "triton_poi_fused_tanh_0",
        "triton_poi_fused_sum_0",
        "triton_poi_fused_sum_1",
    )
    assert phases(seen(made, "fb", "k0 o0 k1 k2 k3 o1")) == "ffbb"


def test_a_backward_op_tells_too() -> None:
    """Also where no op call of the backward pass is seen."""
    made = ("triton_poi_fused_tanh_0", "triton_poi_fused_tanh_backward_1", "triton_poi_fused_mul_2")
    assert phases(seen(made, "f", "o0 k0 k1 k2")) == "fbb"


def test_kernels_before_a_call_are_those_right_before_it() -> None:
    """Named after it; the search ends at the next op call."""
    made = ("triton_poi_fused_mm_0", "triton_poi_fused_mm_1", "triton_poi_fused_add_2")
    found = seen(made, "ff", "k0 o0 k1 k2 o1")
    assert [kernel.item for kernel in found.preparing(4, "mm")] == ["k1"]
    assert found.named_after(1) == {"mm", "add"}
    assert found.named_after(4) == frozenset()
