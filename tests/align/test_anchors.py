"""Anchors: pairs that agree on the order, and what another pair would cross."""

import pytest

from compdiff.align.anchors import Anchors, rising


def test_pairs_that_cross_the_others_are_no_anchors() -> None:
    """The longest run that rises on both sides stays; a right place may come again."""
    assert rising([(0, 0), (1, 9), (2, 1), (3, 1), (4, 2)]) == [(0, 0), (2, 1), (3, 1), (4, 2)]
    assert rising([]) == []


@pytest.mark.parametrize(
    ("left", "right", "crossed"),
    [(5, 5, 0), (15, 15, 0), (5, 10, 0), (5, 15, 1), (5, 25, 2), (25, 5, 2), (15, 10, 0), (15, 20, 0)],
)  # fmt: skip
def test_crossed_counts_anchors_between(left: int, right: int, crossed: int) -> None:
    """An anchor's own right place is reached from both sides without crossing it."""
    assert Anchors([(10, 10), (20, 20)]).crossed(left, right) == crossed


def test_span_is_between_the_neighbours() -> None:
    """Exclusive on both sides; the ends are open."""
    anchors = Anchors([(10, 100), (20, 200)])
    assert anchors.span(150) == (10, 20)
    assert anchors.span(50)[0] == -1
    assert anchors.span(250)[1] > 1 << 60


def test_partners_are_looked_for_between_the_neighbours() -> None:
    """Between two anchors they are spread evenly over the right places there."""
    anchors = Anchors([(10, 100)])
    assert anchors.centers([1, 2, 11, 12], [50, 60, 110, 120]) == [0, 1, 2, 3]
