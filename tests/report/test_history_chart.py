"""The picture of a history: where marks, levels and labels stand."""

from hypothesis import given
from hypothesis import strategies as st

from compdiff.report.history_chart import (
    HEIGHT,
    WIDTH,
    HistoryChart,
    Series,
    Step,
    Value,
    draw_history,
)

NUMBERS = st.one_of(st.none(), st.floats(1e-6, 1e12))


def chart(*numbers: float | None, commits: tuple[str, ...] = ()) -> HistoryChart | None:
    """Return the picture of one series."""
    values = tuple(Value(number, title="a run") for number in numbers)
    return draw_history(
        "Times", [Series("one", "right", values)], commits or ("",) * len(values), str
    )


@given(st.lists(NUMBERS, max_size=30))
def test_every_mark_is_in_the_picture(numbers: list[float | None]) -> None:
    """A mark for each value that is known, left to right, inside of the picture."""
    found = chart(*numbers)

    known = [number for number in numbers if number is not None]
    if found is None:
        assert not known
        return
    marks = found.series[0].marks
    assert len(marks) == len(known)
    assert [float(mark.x) for mark in marks] == sorted(float(mark.x) for mark in marks)
    assert all(0 <= float(mark.x) <= WIDTH and 0 <= float(mark.y) <= HEIGHT for mark in marks)


def test_larger_is_higher_and_intervals_enclose() -> None:
    """The axis goes up, and each interval reaches from its low end to its high end."""
    values = (Value(1.0, 0.5, 2.0), Value(3.0, 2.5, 4.0))
    found = draw_history("Times", [Series("one", "left", values)], ("a", "b"), str)

    assert found is not None
    low, high = found.series[0].marks
    assert float(high.y) < float(low.y)
    assert all(float(mark.y_high) < float(mark.y) < float(mark.y_low) for mark in (low, high))


def test_commits_stand_where_they_begin() -> None:
    """A commit of several runs is named once, and many commits are thinned out."""
    found = chart(1.0, 2.0, 3.0, commits=("aaa", "aaa", "bbb"))
    many = chart(*[1.0] * 200, commits=tuple(f"{number:07x}" for number in range(200)))

    assert found is not None
    assert [label.text for label in found.commits] == ["aaa", "bbb"]
    assert many is not None
    assert 8 <= len(many.commits) <= 12


def test_a_level_spans_its_runs() -> None:
    """Its line goes from its first run to its last."""
    series = Series("one", "right", tuple(Value(number) for number in (1.0, 1.0, 2.0, 2.0)))
    found = draw_history("t", [series], ("",) * 4, str, [Step(2, 4, 2.0, "2")])

    assert found is not None
    (line,) = found.levels
    xs = [float(mark.x) for mark in found.series[0].marks]
    assert xs[1] < float(line.x1) < xs[2] < xs[3] < float(line.x2)
    assert line.y == found.series[0].marks[2].y


def test_it_is_said_in_words() -> None:
    """Who does not see the picture reads from where to where the values went."""
    found = chart(1.0, None, 3.0)

    assert found is not None
    assert found.description == "Times: one from 1.0 to 3.0 in 2 runs"
