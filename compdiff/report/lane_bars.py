"""Lanes as bars. In: a side's lanes and the length of the axis. Out: bars with final coordinates, few enough to draw.

What is narrower than about a pixel is piled up with its neighbours into one bar, as dense as they are. Where a side would
have more bars than `MOST_BARS`, wider things are piled up too.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Protocol

import msgspec

from compdiff.lanes.lanes import Lane, Span
from compdiff.report.naming import clipped
from compdiff.report.quantities import count_text, duration_text
from compdiff.report.shades import SEVERAL, SHADES

MOST_BARS = 1_500
# About one pixel of a lane of a thousand, and how many of these a pile may be wide.
_THIN_SHARE = 1 / 1_000
_PILE_WIDTH = 6
_COARSER, _COARSEST = 1.5, 32
_NARROWEST_PERCENT = 0.1
_LABELLED_PERCENT = 4.5
_SHOWN_NAMES = 3
_NAME_LENGTH = 80
_FAINTEST = 0.35
# Outlines need room; what is narrower, and piles of what is hollow, is filled with a tint of the colour.
_HOLLOW_PERCENT = 0.6
_TINT = 0.5

Group = tuple[Span, ...]


class Mark(msgspec.Struct, frozen=True, gc=False):
    """What is said of one span: how it is shown, its item's id ("" for a launch), its link, its label and its title."""

    shade: str
    item: str
    link: str
    label: str
    title: str


class Marker(Protocol):
    """Says how spans are shown: all of a mark costs ten times as much as its shade."""

    def mark(self, span: Span) -> Mark:
        """Return all that is said of a span."""

    def shade(self, span: Span) -> str:
        """Return the shade of a span's mark."""


class LaneBar(msgspec.Struct, frozen=True, gc=False):
    """One bar: places in percent of the lane's width. `label` is empty where there is no room.

    A bar with an opacity is filled, whatever its shade: a pile, as dense as what is in it, or one too narrow for an outline.
    """

    x: str
    width: str
    shade: str
    item: str
    link: str
    label: str
    title: str
    opacity: str = ""


def pile_up(lanes: Sequence[Lane], length_ns: int) -> list[list[Group]]:
    """Return for each lane its groups of spans: one span each, or several that are too narrow to tell apart."""
    thin = length_ns * _THIN_SHARE
    groups = [_groups(lane.spans, thin) for lane in lanes]
    if sum(map(len, groups)) <= MOST_BARS:
        return groups
    # The wider a pile may be, the fewer there are: the first width that is enough is looked for by halving.
    low, high = 0, _COARSEST
    while high - low > 1:
        middle = (low + high) // 2
        groups = [_groups(lane.spans, thin * _COARSER**middle) for lane in lanes]
        low, high = (low, middle) if sum(map(len, groups)) <= MOST_BARS else (middle, high)
    return [_groups(lane.spans, thin * _COARSER**high) for lane in lanes]


def _groups(spans: Sequence[Span], thin: float) -> list[Group]:
    found: list[Group] = []
    pile: list[Span] = []
    first, end, widest = 0, 0, _PILE_WIDTH * thin
    for span in spans:
        # Read once: this runs over every span of a run a few times.
        start, duration = span.start_ns, span.duration_ns
        narrow = duration < thin
        if pile:
            if narrow and start - end <= thin and start + duration - first <= widest:
                pile.append(span)
                end = max(end, start + duration)
                continue
            found.append(tuple(pile))
            pile = []
        if narrow:
            pile.append(span)
            first, end = start, start + duration
        else:
            found.append((span,))
    return [*found, tuple(pile)] if pile else found


def make_bars(
    groups: Sequence[Group], length_ns: int, marker: Marker, noun: str
) -> tuple[LaneBar, ...]:
    """Return the bars of a lane's groups; `noun` says what its spans are: `kernel`."""
    bars = []
    for index, group in enumerate(groups):
        start, end = _extent(group)
        width = max(_percent(end - start, length_ns), _NARROWEST_PERCENT)
        place = (min(_percent(start, length_ns), 100 - width), width)
        first = marker.mark(group[0])
        if len(group) > 1:
            kinds = set(map(marker.shade, group))
            bars.append(_pile(group, first.link, kinds, noun, place))
        else:
            # What runs inside is drawn over it, and would cover its label.
            covered = any(_extent(other)[0] < end for other in groups[index + 1 : index + 2])
            bars.append(_single(first, place, covered=covered))
    return tuple(bars)


def _single(mark: Mark, place: tuple[float, float], *, covered: bool) -> LaneBar:
    x, width = place
    narrow = SHADES[mark.shade].hollow and width < _HOLLOW_PERCENT
    return LaneBar(
        x=_text(x),
        width=_text(width),
        shade=mark.shade,
        item=mark.item,
        link=mark.link,
        label=mark.label if width >= _LABELLED_PERCENT and not covered else "",
        title=mark.title,
        opacity=f"{_TINT:.2f}" if narrow else "",
    )


def _pile(
    group: Group, link: str, kinds: set[str], noun: str, place: tuple[float, float]
) -> LaneBar:
    start, end = _extent(group)
    busy = sum(span.duration_ns for span in group)
    share = min(1.0, busy / (end - start)) if end > start else 1.0
    shade = kinds.pop() if len(kinds) == 1 else SEVERAL
    most = _TINT if SHADES[shade].hollow else 1
    return LaneBar(
        x=_text(place[0]),
        width=_text(place[1]),
        shade=shade,
        item="",
        link=link,
        label="",
        title=_pile_title(group, noun, busy),
        opacity=f"{most * (_FAINTEST + (1 - _FAINTEST) * share):.2f}",
    )


def _pile_title(group: Group, noun: str, busy: int) -> str:
    start, end = _extent(group)
    names = Counter(clipped(span.item.name, _NAME_LENGTH) for span in group).most_common()
    shown = [f"{name} x{count}" if count > 1 else name for name, count in names[:_SHOWN_NAMES]]
    others = len(names) - len(shown)
    more = f" and {count_text(others, 'other name')}" if others else ""
    count = count_text(len(group), noun, "launches" if noun == "launch" else "")
    times = f"{duration_text(busy)} of {duration_text(end - start)}, from {duration_text(start)} on"
    return f"{count}, {times}\n{', '.join(shown)}{more}"


def _extent(group: Group) -> tuple[int, int]:
    return group[0].start_ns, max(span.end_ns for span in group)


def _percent(ns: float, length_ns: int) -> float:
    return 100 * ns / length_ns if length_ns else 0.0


def _text(percent: float) -> str:
    return f"{percent:.2f}".rstrip("0").rstrip(".")
