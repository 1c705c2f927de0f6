"""Tests of compdiff.align.pivot."""

from hypothesis import given
from hypothesis import strategies as st

from compdiff.align.pivot import EagerPairs, Item, pair_eager, pivot
from compdiff.model import Kernel, OpCall
from tests.builders import kernel, op
from tests.strategies import op_calls

_NO_EAGER = EagerPairs(left=(), right=(), calls={})


def item(
    name: str, made: OpCall | Kernel, *work: int, code: str = "", backward: bool = False
) -> Item:
    """Return an item that does the work of these pivots."""
    return Item(id=name, made=made, work=frozenset(work), code=code, backward=backward)


def test_equal_eager_sides_are_paired_in_order() -> None:
    """The same calls in the same order are one pivot each."""
    calls = (op(0, "aten::mm"), op(1, "aten::add"), op(2, "aten::add"))
    pairs = pair_eager(calls, calls)
    assert pairs.left == pairs.right == (0, 1, 2)
    assert pairs.are_equal


def test_a_removed_call_has_no_partner() -> None:
    """What follows an op call that only one run makes is paired all the same."""
    pairs = pair_eager((op(0, "aten::mm"), op(1, "aten::relu"), op(2, "aten::sum")), (
        op(0, "aten::mm"), op(1, "aten::sum"),
    ))  # fmt: skip
    assert pairs.right == (0, 2)
    assert set(pairs.left) - pairs.shared == {1}
    assert not pairs.are_equal


def test_other_shapes_are_paired_and_marked() -> None:
    """The same ops at another size are pairs, and said to be of other shapes."""
    small = (op(0, "aten::mm", ((4, 4), (4, 4))), op(1, "aten::relu", ((4, 4),)))
    large = (op(0, "aten::mm", ((8, 8), (8, 8))), op(1, "aten::relu", ((8, 8),)))
    pairs = pair_eager(small, large)
    assert pairs.right == (0, 1)
    assert pairs.reshaped == {0, 1}
    assert not pairs.are_equal


def test_a_moved_call_is_paired() -> None:
    """An op call that runs elsewhere in the other run is the same one."""
    pairs = pair_eager((op(0, "aten::relu"), op(1, "aten::sum")), (
        op(0, "aten::sum"), op(1, "aten::relu"),
    ))  # fmt: skip
    assert sorted(pairs.right) == [0, 1]
    assert not pairs.are_equal


@given(op_calls(), op_calls())
def test_each_call_has_one_pivot(left: tuple[OpCall, ...], right: tuple[OpCall, ...]) -> None:
    """No pivot stands for two calls of one run, and every pivot has a call."""
    pairs = pair_eager(left, right)
    assert len(set(pairs.left)) == len(left)
    assert len(set(pairs.right)) == len(right)
    assert {*pairs.left, *pairs.right} == set(pairs.calls)
    assert pairs.reshaped <= pairs.shared


def test_numbers_and_hashes_of_generated_names_do_not_count() -> None:
    """A kernel is the same if its name is but for the number that makes it unique."""
    left = item("ek0", kernel(0, "cpp_fused_add_0"), 1)
    right = item("k4", kernel(4, "cpp_fused_add_7"), 1)
    hashed = item("k5", kernel(5, "triton_poi_fused_add_3_0f1e2d3c", kind="triton"), 1)
    assert pivot(_NO_EAGER, [left], [right]).kept == ((left, right),)
    assert hashed.base == "triton_poi_fused_add"


def test_a_library_kernel_keeps_its_numbers() -> None:
    """The tile sizes in the name of a library kernel are part of it."""
    assert item("ek0", kernel(0, "sgemm_128x64_3", kind="library"), 1).base == "sgemm_128x64_3"


def test_other_work_is_no_pair() -> None:
    """The same name for other eager op calls is not the same item."""
    left, right = item("e0", op(0, "aten::mm"), 0), item("c0", op(0, "aten::mm"), 1)
    result = pivot(_NO_EAGER, [left], [right])
    assert not result.kept
    assert [(group.left, group.right) for group in result.groups] == [((left,), ()), ((), (right,))]


def test_launched_kernels_are_part_of_an_op_call() -> None:
    """An op call that launches another kernel is not the same."""
    one = Item(id="e0", made=op(0, "aten::mm"), work=frozenset({0}), launched=("gemm_a",))
    other = Item(id="c0", made=op(0, "aten::mm"), work=frozenset({0}), launched=("gemm_b",))
    (group,) = pivot(_NO_EAGER, [one], [other]).groups
    assert (group.left, group.right) == ((one,), (other,))


def test_equal_code_is_kept_whatever_its_name() -> None:
    """A kernel of the same code for common work is the same, though the compiler counts other op calls to it."""
    left = item("ek0", kernel(0, "cpp_fused_add_view_0"), 1, 2, code="{ x }")
    right = item("k0", kernel(0, "cpp_fused_add_0"), 1, code="{ x }")
    assert pivot(_NO_EAGER, [left], [right]).kept == ((left, right),)


def test_a_kernel_that_became_two_is_one_group() -> None:
    """One kernel of a name is not paired with one of two that share its work."""
    left = item("ek0", kernel(0, "cpp_fused_softmax_0"), 1)
    right = [item(f"k{n}", kernel(n, f"cpp_fused_softmax_{n}"), 1) for n in range(2)]
    result = pivot(_NO_EAGER, [left], right)
    assert not result.kept
    assert [(len(group.left), len(group.right)) for group in result.groups] == [(1, 2)]


def test_recomputed_work_does_not_join_directions() -> None:
    """A forward kernel that changed and a backward one that recomputes its work are two groups."""
    left = [
        item("ek0", kernel(0, "cpp_fused_gelu_0"), 1),
        item("ek1", kernel(1, "cpp_fused_x_1"), 1, 2, backward=True),
    ]
    right = [
        item("k0", kernel(0, "cpp_fused_a_0"), 1, 3),
        item("k1", kernel(1, "cpp_fused_b_1"), 1, 2, 4, backward=True),
    ]
    groups = pivot(_NO_EAGER, left, right).groups
    assert [(g.left[0].id, g.right[0].id) for g in groups] == [("ek0", "k0"), ("ek1", "k1")]


def test_introduced_items_are_paired_by_kind() -> None:
    """Items that do no eager op call's work are the same first with first; what is over stands alone."""
    left = [item("e0", op(0, "aten::copy_"))]
    right = [item("c0", op(0, "aten::copy_")), item("c1", op(1, "aten::copy_"))]
    result = pivot(_NO_EAGER, left, right)
    assert [pair[1].id for pair in result.kept] == ["c0"]
    assert [group.right[0].id for group in result.groups] == ["c1"]


_WORKS = st.lists(st.frozensets(st.integers(0, 4)), max_size=6)


@given(_WORKS, _WORKS, st.integers(1, 3))
def test_each_item_stands_once(
    left: list[frozenset[int]], right: list[frozenset[int]], names: int
) -> None:
    """Every item is in one kept pair or one group, and groups share no pivot."""
    sides = [
        [item(f"{prefix}{n}", kernel(n, f"cpp_fused_{n % names}_0"), *work) for n, work in enumerate(works)]
        for prefix, works in (("ek", left), ("k", right))
    ]  # fmt: skip
    result = pivot(_NO_EAGER, *sides)
    placed = [one.id for pair in result.kept for one in pair]
    placed += [one.id for group in result.groups for one in (*group.left, *group.right)]
    assert sorted(placed) == sorted(one.id for side in sides for one in side)
