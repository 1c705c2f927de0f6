"""The stacked bars of a ladder. In: Ladder. Out: LadderBars: where each rectangle of the SVG stands, with its texts.

A bar is the profiled step of a rung, its parts in order; a mark shows the unprofiled median, which profiling makes longer.
"""

from collections.abc import Iterator

import msgspec

from compdiff.ladder.records import Ladder, Rung, Split
from compdiff.report.ladder_parts import LABELS
from compdiff.report.quantities import duration_text, share_text

WIDTH = 960
LEFT = 130
_RIGHT = 90
_ROW = 40
_TOP = 8
_FOOT = 24
_TICKS = 5
# About what a character of the labels in the bars takes.
_CHARACTER = 7.2
_ROOM = WIDTH - LEFT - _RIGHT


class Segment(msgspec.Struct, frozen=True):
    """One part of one bar; `label` is empty where it does not fit."""

    part: str
    x: str
    width: str
    middle: str
    title: str
    label: str


class StepBar(msgspec.Struct, frozen=True):
    """One rung: its segments, its total, and where its unprofiled median is ("" where it was not timed)."""

    rung: str
    y: int
    segments: tuple[Segment, ...]
    total: str
    end: str
    median_x: str
    median: str


class BarTick(msgspec.Struct, frozen=True):
    """A time on the axis."""

    x: str
    text: str


class LadderBars(msgspec.Struct, frozen=True):
    """The whole picture; `parts` are those that occur, for the legend."""

    width: int
    height: int
    bars: tuple[StepBar, ...]
    ticks: tuple[BarTick, ...]
    parts: tuple[tuple[str, str], ...]
    description: str


def draw_bars(ladder: Ladder) -> LadderBars | None:
    """Return the picture, or None where no rung was split."""
    shown = [(rung, rung.split) for rung in ladder.rungs if rung.split is not None]
    if not shown:
        return None
    longest = max(max(split.total_ns, _median_ns(rung)) for rung, split in shown)
    seen = {part.name for _, split in shown for part in split.parts}
    return LadderBars(
        width=WIDTH,
        height=_TOP + _ROW * len(shown) + _FOOT,
        bars=tuple(
            _bar(rung, split, _TOP + _ROW * row, longest) for row, (rung, split) in enumerate(shown)
        ),
        ticks=tuple(_tick(index, longest) for index in range(_TICKS)),
        parts=tuple((name, label) for name, label in LABELS.items() if name in seen),
        description=_description(shown),
    )


def _bar(rung: Rung, split: Split, y: int, longest: int) -> StepBar:
    median = rung.step.median_ns if rung.step else None
    return StepBar(
        rung=rung.name,
        y=y,
        segments=tuple(_segments(split, longest, median)),
        total=duration_text(split.total_ns),
        end=_number(_x(max(split.total_ns, median or 0), longest) + 6),
        median_x="" if median is None else _number(_x(median, longest)),
        median="" if median is None else f"unprofiled median {duration_text(median)}",
    )


def _segments(split: Split, longest: int, median_ns: int | None) -> Iterator[Segment]:
    start = 0
    mark = None if median_ns is None else _x(median_ns, longest)
    for part in split.parts:
        left, right = _x(start, longest), _x(start + part.ns, longest)
        start += part.ns
        label = LABELS[part.name]
        share = share_text(part.ns, split.total_ns)
        if part.ns:
            yield Segment(
                part=part.name,
                x=_number(left),
                width=_number(right - left),
                middle=_number((left + right) / 2),
                title=f"{label}: {duration_text(part.ns)}, {share}",
                label=label if _has_room(label, left, right, mark) else "",
            )


def _has_room(label: str, left: float, right: float, mark: float | None) -> bool:
    """Return whether a label fits between the ends of its segment, and the mark of the median does not cross it."""
    width = _CHARACTER * (len(label) + 1)
    crossed = mark is not None and abs(mark - (left + right) / 2) < width / 2
    return right - left > width and not crossed


def _tick(index: int, longest: int) -> BarTick:
    ns = longest * index // (_TICKS - 1)
    return BarTick(_number(_x(ns, longest)), duration_text(ns) if ns else "0")


def _median_ns(rung: Rung) -> int:
    return rung.step.median_ns if rung.step else 0


def _x(ns: int, longest: int) -> float:
    return LEFT + _ROOM * ns / max(1, longest)


def _description(shown: list[tuple[Rung, Split]]) -> str:
    parts = [f"{rung.name} {duration_text(split.total_ns)}" for rung, split in shown]
    return f"The profiled step of each rung by what its time went to: {'; '.join(parts)}. The table below has all numbers."


def _number(value: float) -> str:
    return f"{value:.1f}"
