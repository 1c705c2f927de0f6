"""The picture of the samples. In: Timing. Out: bars, marks and ticks with final coordinates, and their data table.

Both sides share one axis. It ends at the 98th percentile of all samples, so that one outlier does not flatten the rest;
the last bin counts what lies beyond and says so.
"""

from collections.abc import Sequence

import msgspec

from compdiff import timing as statistics
from compdiff.model import Samples, Timing
from compdiff.report.quantities import duration_text

WIDTH = 720
HEIGHT = 196
_LEFT, _RIGHT = 84, 12
_BINS = 48
_BAR_HEIGHT = 60
_BASELINES = (76, 156)
_TICKS = 5
_CLIPPED_SHARE = 0.02


class Bar(msgspec.Struct, frozen=True):
    """One bin of one side, in picture coordinates."""

    x: str
    y: str
    width: str
    height: str


class Strip(msgspec.Struct, frozen=True):
    """One side's bars above its baseline, with its median and the interval of the median."""

    label: str
    side: str
    baseline: int
    bars: tuple[Bar, ...]
    median_x: str
    low_x: str
    interval_width: str


class Tick(msgspec.Struct, frozen=True):
    """A mark on the time axis."""

    x: str
    text: str
    anchor: str


class Bin(msgspec.Struct, frozen=True):
    """One row of the data table: a range of times, and how many samples of each side fall in it."""

    range: str
    left: int
    right: int


class Histogram(msgspec.Struct, frozen=True):
    """The whole picture and the table that says the same."""

    strips: tuple[Strip, ...]
    ticks: tuple[Tick, ...]
    bins: tuple[Bin, ...]
    beyond: int
    description: str
    width: int = WIDTH
    height: int = HEIGHT


class _Axis(msgspec.Struct, frozen=True):
    low: int
    high: int

    def x(self, ns: float) -> float:
        clamped = min(max(ns, self.low), self.high)
        return _LEFT + (clamped - self.low) / (self.high - self.low) * (WIDTH - _LEFT - _RIGHT)

    def bin(self, ns: float) -> int:
        return min(max(int((ns - self.low) / (self.high - self.low) * _BINS), 0), _BINS - 1)

    def edge(self, index: int) -> float:
        return self.low + (self.high - self.low) * index / _BINS


def draw(timing: Timing, labels: tuple[str, str]) -> Histogram:
    """Return the picture of both sides' samples on one axis."""
    sides = (timing.left, timing.right)
    axis = _axis([*timing.left.ns_per_call, *timing.right.ns_per_call])
    counts = [_counts(axis, samples) for samples in sides]
    tallest = max(*counts[0], *counts[1], 1)
    return Histogram(
        strips=tuple(
            _strip(axis, samples, [_BAR_HEIGHT * number / tallest for number in count], place)
            for samples, count, place in zip(sides, counts, _places(labels), strict=True)
        ),
        ticks=_ticks(axis),
        bins=_bins(axis, counts),
        beyond=sum(ns > axis.high for samples in sides for ns in samples.ns_per_call),
        description=_description(timing, labels),
    )


def _axis(values: Sequence[int]) -> _Axis:
    ordered = sorted(values)
    last = ordered[max(0, round(len(ordered) * (1 - _CLIPPED_SHARE)) - 1)]
    margin = max(1, (last - ordered[0]) // 20)
    return _Axis(max(0, ordered[0] - margin), last + margin)


def _counts(axis: _Axis, samples: Samples) -> list[int]:
    counts = [0] * _BINS
    for ns in samples.ns_per_call:
        counts[axis.bin(ns)] += 1
    return counts


class _Place(msgspec.Struct, frozen=True):
    label: str
    side: str
    baseline: int


def _places(labels: tuple[str, str]) -> tuple[_Place, ...]:
    rows = zip(labels, ("left", "right"), _BASELINES, strict=True)
    return tuple(_Place(label, side, baseline) for label, side, baseline in rows)


def _strip(axis: _Axis, samples: Samples, heights: list[float], place: _Place) -> Strip:
    interval = statistics.summary(samples)
    low, high = axis.x(interval.low_ns), axis.x(interval.high_ns)
    return Strip(
        label=place.label,
        side=place.side,
        baseline=place.baseline,
        bars=tuple(
            _bar(axis, index, height, place.baseline)
            for index, height in enumerate(heights)
            if height
        ),
        median_x=_number(axis.x(interval.median_ns)),
        low_x=_number(low),
        interval_width=_number(max(high - low, 1.5)),
    )


def _bar(axis: _Axis, index: int, height: float, baseline: int) -> Bar:
    x, end = axis.x(axis.edge(index)), axis.x(axis.edge(index + 1))
    return Bar(_number(x), _number(baseline - height), _number(end - x - 1), _number(height))


def _ticks(axis: _Axis) -> tuple[Tick, ...]:
    step = (axis.high - axis.low) / (_TICKS - 1)
    values = [axis.low + step * index for index in range(_TICKS)]
    anchors = ["start", *["middle"] * (_TICKS - 2), "end"]
    return tuple(
        Tick(_number(axis.x(ns)), duration_text(ns), anchor)
        for ns, anchor in zip(values, anchors, strict=True)
    )


def _bins(axis: _Axis, counts: list[list[int]]) -> tuple[Bin, ...]:
    return tuple(
        Bin(f"{duration_text(axis.edge(i))} to {duration_text(axis.edge(i + 1))}", left, right)
        for i, (left, right) in enumerate(zip(*counts, strict=True))
        if left or right
    )


def _description(timing: Timing, labels: tuple[str, str]) -> str:
    parts = [
        f"{label}: median {duration_text(statistics.summary(samples).median_ns)}"
        for label, samples in zip(labels, (timing.left, timing.right), strict=True)
    ]
    return f"Distribution of the time per call. {'; '.join(parts)}."


def _number(value: float) -> str:
    return f"{value:.1f}"
