"""The picture of a history: one place a run, oldest left. In: values by run. Out: marks, levels and ticks in pixels.

Runs stand at equal distances, whatever the time between them; commits stand below.
"""

from collections.abc import Callable, Sequence

import msgspec

WIDTH = 960
HEIGHT = 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 76, 12, 12, 44
_TICKS = 4
_MOST_COMMITS = 12
_MARGIN = 0.08
# How far a level reaches beyond its first and last run, in distances of runs.
_BESIDE = 0.4


class Value(msgspec.Struct, frozen=True):
    """What one run adds to a series, with its interval, and the text of its mark; None where it has no value."""

    middle: float | None
    low: float | None = None
    high: float | None = None
    title: str = ""


class Series(msgspec.Struct, frozen=True):
    """A value for each run; `side` is left or right, which chooses colour and shape."""

    name: str
    side: str
    values: tuple[Value, ...]


class Step(msgspec.Struct, frozen=True):
    """A level from one run to another (exclusive), and its text."""

    start: int
    stop: int
    value: float
    text: str


class Mark(msgspec.Struct, frozen=True):
    """One value as a point with the line of its interval."""

    x: str
    y: str
    y_low: str
    y_high: str
    title: str


class Line(msgspec.Struct, frozen=True):
    """A level as a horizontal line with a text above it."""

    x1: str
    x2: str
    y: str
    text: str


class Label(msgspec.Struct, frozen=True):
    """A text at an axis, with where it stands and how it is aligned."""

    x: str
    y: str
    text: str
    anchor: str


class DrawnSeries(msgspec.Struct, frozen=True):
    """The marks of one series."""

    name: str
    side: str
    marks: tuple[Mark, ...]


class HistoryChart(msgspec.Struct, frozen=True):
    """The whole picture; `description` says it in words."""

    title: str
    description: str
    series: tuple[DrawnSeries, ...]
    levels: tuple[Line, ...]
    values: tuple[Label, ...]
    commits: tuple[Label, ...]
    width: int = WIDTH
    height: int = HEIGHT


class _Axes(msgspec.Struct, frozen=True):
    runs: int
    low: float
    high: float

    def x(self, index: float) -> float:
        step = (WIDTH - _LEFT - _RIGHT) / max(self.runs, 1)
        return _LEFT + step * (index + 0.5)

    def y(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return HEIGHT - _BOTTOM - share * (HEIGHT - _TOP - _BOTTOM)


def draw_history(
    title: str,
    series: Sequence[Series],
    commits: Sequence[str],
    text_of: Callable[[float], str],
    levels: Sequence[Step] = (),
) -> HistoryChart | None:
    """Return the picture of some series, of which each has a value or None for each commit; None without any value.

    `text_of` writes a value of the axis.
    """
    axes = _axes(series, len(commits))
    if axes is None:
        return None
    return HistoryChart(
        title=title,
        description=f"{title}: {'; '.join(_said(one, text_of) for one in series)}",
        series=tuple(
            DrawnSeries(one.name, one.side, tuple(_marks(axes, one.values))) for one in series
        ),
        levels=tuple(_line(axes, level) for level in levels),
        values=tuple(_value_labels(axes, text_of)),
        commits=tuple(_commit_labels(axes, commits)),
    )


def _axes(series: Sequence[Series], runs: int) -> _Axes | None:
    known = [
        number
        for one in series
        for value in one.values
        for number in (value.middle, value.low, value.high)
        if number is not None and value.middle is not None
    ]
    if not known:
        return None
    low, high = min(known), max(known)
    margin = (high - low) * _MARGIN or abs(high) * _MARGIN or 1.0
    return _Axes(runs, max(low - margin, 0.0) if low >= 0 else low - margin, high + margin)


def _said(series: Series, text_of: Callable[[float], str]) -> str:
    known = [value.middle for value in series.values if value.middle is not None]
    if not known:
        return f"{series.name}: no value"
    return f"{series.name} from {text_of(known[0])} to {text_of(known[-1])} in {len(known)} runs"


def _marks(axes: _Axes, values: Sequence[Value]) -> list[Mark]:
    found = []
    for index, value in enumerate(values):
        if value.middle is None:
            continue
        low = value.middle if value.low is None else value.low
        high = value.middle if value.high is None else value.high
        found.append(
            Mark(
                x=_px(axes.x(index)),
                y=_px(axes.y(value.middle)),
                y_low=_px(axes.y(low)),
                y_high=_px(axes.y(high)),
                title=value.title,
            )
        )
    return found


def _line(axes: _Axes, level: Step) -> Line:
    return Line(
        x1=_px(axes.x(level.start - _BESIDE)),
        x2=_px(axes.x(level.stop - 1 + _BESIDE)),
        y=_px(axes.y(level.value)),
        text=level.text,
    )


def _value_labels(axes: _Axes, text_of: Callable[[float], str]) -> list[Label]:
    values = [axes.low + (axes.high - axes.low) * index / _TICKS for index in range(_TICKS + 1)]
    return [
        Label(_px(_LEFT - 8), _px(axes.y(value) + 4), text_of(value), "end") for value in values
    ]


def _commit_labels(axes: _Axes, commits: Sequence[str]) -> list[Label]:
    """Return some of the commits, where one begins, far enough from each other."""
    found, last = [], -len(commits)
    distance = max(1, -(-len(commits) // _MOST_COMMITS))
    for index, commit in enumerate(commits):
        begins = index == 0 or commits[index - 1] != commit
        if commit and begins and index - last >= distance:
            found.append(Label(_px(axes.x(index)), _px(HEIGHT - _BOTTOM + 18), commit, "middle"))
            last = index
    return found


def _px(number: float) -> str:
    return f"{number:.1f}"
