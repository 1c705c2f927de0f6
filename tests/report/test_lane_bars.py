"""Lanes as bars: what is drawn alone, what is piled up, and how many there may be."""

from hypothesis import given
from hypothesis import strategies as st

from compdiff.lanes.lanes import Lane, Span
from compdiff.model import Kernel
from compdiff.report.lane_bars import MOST_BARS, Mark, make_bars, pile_up


def span(number: int, start: int, duration: int, name: str = "k") -> Span:
    """Return a kernel's span."""
    return Span(Kernel(id=number, name=name, kind="library"), start, duration)


def lane(*spans: Span) -> Lane:
    """Return a lane of a stream."""
    return Lane("stream 7", "device", spans)


def marked(shade: str) -> Mark:
    """Return a mark of this shade."""
    return Mark(shade, "k0", "k0", "= name", "title")


class Shades:
    """Marks spans with the given shades, the last one for all that follow."""

    def __init__(self, *shades: str) -> None:
        self._shades = list(shades)

    def mark(self, _: Span) -> Mark:
        """Return a mark of the next shade."""
        return marked(self._shades[0])

    def shade(self, _: Span) -> str:
        """Return the next shade, and use it up unless it is the last."""
        return self._shades.pop(0) if len(self._shades) > 1 else self._shades[0]


def test_wide_spans_stand_alone() -> None:
    """Each has its place in percent, its link and its label."""
    (groups,) = pile_up([lane(span(0, 0, 250), span(1, 500, 500))], 1_000)
    bars = make_bars(groups, 1_000, Shades("kept"), "kernel")
    assert [(bar.x, bar.width, bar.label, bar.opacity) for bar in bars] == [
        ("0", "25", "= name", ""),
        ("50", "50", "= name", ""),
    ]


def test_narrow_neighbours_are_one_bar_that_counts_them() -> None:
    """The title says how many, how long and which names; the bar is as dense as they are."""
    spans = [span(number, 10 * number, 5, name=f"k{number % 2}") for number in range(4)]
    (groups,) = pile_up([lane(*spans)], 100_000)
    (bar,) = make_bars(groups, 100_000, Shades("kept"), "kernel")
    assert bar.title == "4 kernels, 20 ns of 35 ns, from 0 ns on\nk0 x2, k1 x2"
    assert (bar.item, bar.link) == ("", "k0")
    assert 0.7 < float(bar.opacity) < 0.8


def test_a_pile_of_different_fates_says_so() -> None:
    """No fate is shown for another."""
    spans = [span(0, 0, 5), span(1, 5, 5)]
    (groups,) = pile_up([lane(*spans)], 100_000)
    (bar,) = make_bars(groups, 100_000, Shades("kept", "fused"), "kernel")
    assert bar.shade == "several fates"


def test_a_wide_span_is_never_hidden_in_a_pile() -> None:
    """Narrow ones around it are piled up on their own."""
    spans = [span(0, 0, 1), span(1, 2, 1), span(2, 4, 50_000), span(3, 50_005, 1)]
    (groups,) = pile_up([lane(*spans)], 100_000)
    assert [len(group) for group in groups] == [2, 1, 1]


def test_what_has_others_inside_has_no_label() -> None:
    """It would be covered."""
    (groups,) = pile_up([lane(span(0, 0, 900), span(1, 300, 200))], 1_000)
    bars = make_bars(groups, 1_000, Shades("kept"), "op call")
    assert [bar.label for bar in bars] == ["", "= name"]


def test_many_wide_gaps_still_give_few_bars() -> None:
    """Thousands of kernels far apart are coarser, not more."""
    lanes = [lane(*(span(n, n * 1_000, 10) for n in range(5_000))) for _ in range(4)]
    groups = pile_up(lanes, 5_000_000)
    assert sum(map(len, groups)) <= MOST_BARS
    assert sum(len(group) for found in groups for group in found) == 20_000


@given(st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 3_000)), max_size=60))
def test_every_span_is_in_one_group_and_within_the_axis(raw: list[tuple[int, int]]) -> None:
    """Whatever the lane, nothing is lost and no bar leaves the picture."""
    spans = [span(number, *times) for number, times in enumerate(sorted(raw))]
    length = max([1, *(one.end_ns for one in spans)])
    (groups,) = pile_up([lane(*spans)], length)
    assert [one for group in groups for one in group] == spans
    for bar in make_bars(groups, length, Shades("introduced"), "kernel"):
        assert float(bar.width) > 0
        assert 0 <= float(bar.x) <= float(bar.x) + float(bar.width) <= 100.01
