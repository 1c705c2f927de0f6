"""The alignment as rows: everything once, in eager order."""

from collections import Counter
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings

from compdiff.analysis import analyse
from compdiff.model import Run
from compdiff.report.lookup import Lookup
from compdiff.report.rows import Group, make_rows
from tests.report.examples import EXAMPLES, Example, geglu, linear, training
from tests.strategies import runs

MADE_BY = pytest.mark.parametrize("example", EXAMPLES, ids=lambda make: make.__name__)


def rows(example: Example) -> tuple[Group, ...]:
    """Return an example's rows."""
    return make_rows(Lookup(*example))


def left_ids(groups: tuple[Group, ...]) -> list[str]:
    """Return the left op calls in the order shown."""
    return [op.id for group in groups for block in group.blocks for op in block.ops]


def right_ids(groups: tuple[Group, ...]) -> Iterator[str]:
    """Yield the right items that are shown in full."""
    for group in groups:
        for item in group.items:
            yield item.id
            yield from (nested.id for nested in item.nested)


@MADE_BY
def test_every_item_stands_once(example: Callable[[], Example]) -> None:
    """Op calls in eager order; each right item in full in one place."""
    run, diff = example()
    groups = rows(Example(run, diff))
    assert left_ids(groups) == [f"e{call.id}" for call in run.left.op_calls]
    shown = Counter(right_ids(groups))
    assert set(shown) == set(diff.origins)
    assert set(shown.values()) <= {1}


@settings(max_examples=60, deadline=None)
@given(runs())
def test_every_item_of_any_run_stands_once(run: Run) -> None:
    """Whatever a run holds, nothing is left out and nothing is told twice."""
    diff = analyse(run)
    groups = rows(Example(run, diff))
    assert sorted(left_ids(groups)) == sorted(diff.fates)
    assert sorted(right_ids(groups)) == sorted(diff.origins)


def test_op_calls_of_one_rewrite_stand_together() -> None:
    """A product and a sum that became one op call are one group."""
    (group,) = rows(linear())
    assert left_ids((group,)) == ["e0", "e1"]
    assert [item.id for item in group.items] == ["c0"]


def test_the_marked_columns_are_those_of_the_op() -> None:
    """The source line is cut where the op's own expression starts and ends."""
    (group,) = rows(linear())
    line = group.blocks[0].source
    assert line is not None
    assert line.marked == "torch.matmul(x, w)"
    assert line.before + line.marked + line.after == "return torch.add(torch.matmul(x, w), b)"


def test_a_kernel_of_several_lines_stands_at_the_first() -> None:
    """The fused kernel is shown in full where its first op call is, and linked elsewhere."""
    groups = rows(geglu())
    home = next(group for group in groups if "k0" in right_ids((group,)))
    assert "e2" in left_ids((home,))


def test_what_no_op_call_owns_is_shown() -> None:
    """An introduced copy and an unexplained op call stand in the rows too."""
    shown = set(right_ids(rows(training())))
    assert {"c0", "c1"} <= shown
