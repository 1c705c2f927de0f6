"""Tests of compdiff.align.sides."""

from compdiff.align.sides import compiled_items, eager_items
from compdiff.analysis import analyse
from tests.variants import golden


def test_eager_op_calls_do_their_own_work() -> None:
    """Each eager op call has its own pivot, under the ids of the side that it stands on."""
    run = golden("mlp_geglu")
    items = eager_items(run, range(8), "right")
    assert [item.id for item in items] == [f"c{n}" for n in range(8)]
    assert [item.work for item in items] == [frozenset({n}) for n in range(8)]


def test_compiled_items_do_the_work_that_their_origins_name() -> None:
    """Op calls and kernels have the pivots of their eager op calls, whatever number those have."""
    run = golden("mlp_geglu")
    items = compiled_items(run, analyse(run), range(10, 18), "left")
    works = {item.id: set(item.work) for item in items}
    assert works == {"e0": {11}, "e1": {14}, "e2": {17}, "ek0": {12, 15}}


def test_views_and_repeats_are_not_work() -> None:
    """An op call that was eliminated does not tell one kernel from another."""
    run = golden("cse")
    diff = analyse(run)
    assert diff.fates["e3"].fate == "eliminated"
    (kernel,) = compiled_items(run, diff, range(5), "left")
    assert set(kernel.work) == {0, 1, 2, 4}


def test_code_holds_neither_names_nor_paths() -> None:
    """What is compared of generated code starts at its function and names no kernel."""
    run = golden("training_step")
    codes = [item.code for item in compiled_items(run, analyse(run), range(35), "left")]
    found = [code for code in codes if code]
    assert len(found) == 6
    assert not any("cpp_fused" in code or "#include" in code for code in found)


def test_backward_items_are_marked() -> None:
    """Kernels of a backward graph and op calls of the backward pass are backward."""
    run = golden("training_step")
    items = {item.id: item for item in compiled_items(run, analyse(run), range(35), "left")}
    assert not items["ek0"].backward
    assert items["ek3"].backward
    assert items["e3"].backward
