"""One sequence laid over another: order, sharing, spreading, and what stays alone."""

from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compdiff.align.laid_over import lay_over


def free(_row: int, _column: int) -> float:
    """Cost nothing."""
    return 0.0


@pytest.mark.parametrize(
    ("rows", "columns", "pairs"),
    [
        (2, 2, [(0, 0), (1, 1)]),
        (3, 1, [(0, 0), (1, 0), (2, 0)]),
        (1, 2, [(0, 0), (0, 1)]),
        (0, 2, []),
        (2, 0, []),
    ],
)
def test_counts_decide_where_costs_do_not(
    rows: int, columns: int, pairs: list[tuple[int, int]]
) -> None:
    """As many of both are paired one by one; else several share one."""
    assert lay_over([0] * rows, columns, free) == pairs


def test_a_pair_that_costs_little_more_is_better_than_one_left_over() -> None:
    """Two sums and two kernels that name one: each has its own, although the second lies near both sums."""
    costs = [[2, 0], [3, 1]]
    assert lay_over([0, 0], 2, lambda row, column: costs[row][column]) == [(0, 0), (1, 1)]


def test_what_is_too_dear_stays_alone() -> None:
    """A left place that shares only at a cost is left out; a pair that crosses very much is none."""
    assert lay_over([0, 0], 1, lambda row, _: float(row)) == [(0, 0)]
    assert lay_over([0], 1, lambda *_: 9.0) == []


@given(st.lists(st.integers(0, 30), max_size=30), st.integers(0, 30), st.randoms())
def test_order_is_kept(centers: list[int], columns: int, chance: object) -> None:
    """Whatever the costs are, pairs rise on both sides and are in range."""
    seen: dict[tuple[int, int], float] = {}

    def cost(row: int, column: int) -> float:
        return seen.setdefault((row, column), chance.random() * 6)  # type: ignore[attr-defined]

    pairs = lay_over([min(one, columns) for one in centers], columns, cost)
    assert pairs == sorted(set(pairs))
    assert [column for _, column in pairs] == sorted(column for _, column in pairs)
    assert all(0 <= row < len(centers) and 0 <= column < columns for row, column in pairs)


def test_time_is_linear() -> None:
    """Ten times as many places take about ten times as long, not a hundred times."""

    def seconds(count: int) -> float:
        start = perf_counter()
        assert len(lay_over(range(count), count, lambda row, column: abs(row - column))) == count
        return perf_counter() - start

    assert seconds(2000) < 40 * max(seconds(200), 0.005)
