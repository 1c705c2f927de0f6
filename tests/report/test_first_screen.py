"""The strips, and the rewrites that matter most."""

from math import isclose

import msgspec

from compdiff.analysis import analyse, compare
from compdiff.report.view import Page, make_page
from tests.report.examples import geglu, traced
from tests.report.layers import layered
from tests.variants import golden, planned_golden


def test_cells_are_of_one_width() -> None:
    """The strip of a side with half as many items is half as long."""
    strips = make_page(*geglu()).strips
    assert strips is not None
    ends = dict.fromkeys((0, 58), 0.0)
    for cell in strips.cells:
        row = 0 if cell.y < 30 else 58
        ends[row] = max(ends[row], float(cell.x) + float(cell.width))
    assert isclose(ends[58] / ends[0], 4 / 8, rel_tol=0.05)
    assert len({cell.width for cell in strips.cells}) == 1


def test_a_ribbon_for_each_op_call_that_lives_on() -> None:
    """From its cell to that of what does its work."""
    page = make_page(*geglu())
    assert page.strips is not None
    assert [ribbon.item for ribbon in page.strips.ribbons] == ["e1", "e2", "e4", "e5", "e7"]


def test_many_items_are_counted_by_kind() -> None:
    """No cell stands for one item where nobody could see it."""
    strips = make_page(*layered(4)).strips
    assert strips is not None
    assert [cell.title for cell in strips.cells][:3] == ["80 kept", "240 fused", "80 eliminated"]
    assert not strips.ribbons
    assert all(not cell.item for cell in strips.cells)


def test_strips_of_a_run_with_nothing_in_it() -> None:
    """There are none."""
    run, diff = geglu()
    empty = {"op_calls": (), "kernels": (), "launches": (), "call_order": ()}
    bare = msgspec.structs.replace(
        run,
        left=msgspec.structs.replace(run.left, **empty),
        right=msgspec.structs.replace(run.right, **empty),
    )
    nothing = msgspec.structs.replace(diff, fates={}, origins={}, rewrites=(), matches=())
    assert make_page(bare, nothing).strips is None


# ---------------------------------------------------------------- what matters most


def gains(page: Page) -> list[tuple[str, str]]:
    """Return rule and change of each row."""
    return [(row.rule, row.change) for row in page.gains.rows] if page.gains else []


def test_a_plan_goes_by_estimates() -> None:
    """Time first, memory traffic beside it, and the word that nothing was run."""
    page = make_page(*planned_golden("mlp_geglu"))
    assert page.gains is not None
    assert "estimated" in page.gains.by
    assert "memory traffic: " in page.gains.rows[0].change


def test_kernels_of_a_device_go_by_their_time() -> None:
    """What the kernels of the op calls took, against the kernel that does their work."""
    page = make_page(*traced())
    assert gains(page) == [("pointwise-fusion", "25.0 us -> 80.0 us (55.0 us more)")]
    assert page.gains is not None
    assert page.gains.by.startswith("by time of kernels")


def test_a_cpu_goes_by_op_calls() -> None:
    """The profiled time of the op calls against that of kernels and op calls in their place."""
    run = golden("mlp_geglu")
    page = make_page(run, analyse(run))
    assert page.gains is not None
    assert page.gains.rows[0].rule == "pointwise-fusion"
    assert page.gains.rows[0].after == "cpp_fused_gelu_mul_0"


def test_repetitions_count_together() -> None:
    """One row for the rewrite of all layers."""
    page = make_page(*layered(8))
    assert page.gains is not None
    assert {row.count for row in page.gains.rows} == {8}
    assert len({row.place for row in page.gains.rows}) == len(page.gains.rows)


def test_two_runs_have_none() -> None:
    """What changed between them is no gain of a compiler."""
    run = golden("linear")
    assert make_page(*compare(run, "right", golden("unfused_bias"), "right")).gains is None
