"""Before and after in two strips of one scale. In: Lookup, groups. Out: cells and the ribbons between them, placed.

A cell is an op call on the left, and an op call or a kernel on the right; all are of one width, so that the shorter strip
has less in it. Where there are too many to tell apart, a strip shows how many there are of each kind.
"""

from collections import Counter
from collections.abc import Sequence

import msgspec

from compdiff.report.lookup import Lookup
from compdiff.report.quantities import count_text
from compdiff.report.rows import Group
from compdiff.report.shades import SHADES, shade_of

WIDTH, HEIGHT, CELL_HEIGHT = 1000, 76, 18
_MOST_CELLS = 240
_WIDEST = 125.0
_GAP = 0.12


class Cell(msgspec.Struct, frozen=True):
    """One item, or all of a kind: place in `WIDTH` units, top, how it is shown, its link ("" for many) and its title."""

    x: str
    y: int
    width: str
    shade: str
    item: str
    title: str


class Ribbon(msgspec.Struct, frozen=True):
    """What joins a left cell to a right one: a path, shown as the left cell is."""

    path: str
    shade: str
    item: str


class Strips(msgspec.Struct, frozen=True):
    """Both strips; `left` and `right` say in words what they show."""

    left: str
    right: str
    cells: tuple[Cell, ...]
    ribbons: tuple[Ribbon, ...]
    description: str


def make_strips(lookup: Lookup, groups: Sequence[Group]) -> Strips | None:
    """Return both sides as strips, None where neither has anything."""
    left = [op.id for group in groups for block in group.blocks for op in block.ops]
    units = {item.id for group in groups for item in group.items}
    right = [item for item in lookup.right_order if item in units]
    most = max(len(left), len(right))
    if not most:
        return None
    labels = (
        f"{lookup.run.left.label}: {_counts(lookup, left)}",
        f"{lookup.run.right.label}: {_counts(lookup, right)}",
    )
    draw = _each if most <= _MOST_CELLS else _by_kind
    top, bottom = draw(lookup, left, most, 0), draw(lookup, right, most, HEIGHT - CELL_HEIGHT)
    return Strips(
        left=labels[0],
        right=labels[1],
        cells=(*top, *bottom),
        ribbons=_ribbons(groups, top, bottom) if draw is _each else (),
        description=f"{labels[0]}. {labels[1]}. {_kinds_text(lookup, left)}.",
    )


def _counts(lookup: Lookup, items: Sequence[str]) -> str:
    ops = sum(item in lookup.left_ops or item in lookup.right_ops for item in items)
    kernels = len(items) - ops
    parts = [count_text(ops, "op call")] if ops or not kernels else []
    return " and ".join([*parts, *([count_text(kernels, "kernel")] if kernels else [])])


def _kinds_text(lookup: Lookup, items: Sequence[str]) -> str:
    counts = Counter(shade_of(lookup, item) for item in items)
    return ", ".join(f"{count} {kind}" for kind, count in counts.most_common()) or "nothing"


def _each(lookup: Lookup, items: Sequence[str], most: int, top: int) -> tuple[Cell, ...]:
    step = min(WIDTH / most, _WIDEST)
    return tuple(_cell(lookup, item, index * step, step, top) for index, item in enumerate(items))


def _cell(lookup: Lookup, item: str, x: float, step: float, top: int) -> Cell:
    shade = shade_of(lookup, item)
    return Cell(
        x=_number(x),
        y=top + SHADES[shade].y,
        width=_number(step * (1 - _GAP)),
        shade=shade,
        item=item,
        title=f"{item} {lookup.names[item]}, {shade}",
    )


def _by_kind(lookup: Lookup, items: Sequence[str], most: int, top: int) -> tuple[Cell, ...]:
    counts = Counter(shade_of(lookup, item) for item in items)
    cells, x = [], 0.0
    for kind in (kind for kind in SHADES if counts[kind]):
        width = counts[kind] * WIDTH / most
        title = f"{counts[kind]:,} {kind}"
        cells.append(
            Cell(_number(x), top + SHADES[kind].y, _number(max(width - 1, 0.5)), kind, "", title)
        )
        x += width
    return tuple(cells)


def _ribbons(
    groups: Sequence[Group], top: Sequence[Cell], bottom: Sequence[Cell]
) -> tuple[Ribbon, ...]:
    places = {cell.item: cell for cell in (*top, *bottom)}
    homes = {
        inner.id: item.id
        for group in groups
        for item in group.items
        for inner in (item, *item.nested)
    }
    found = []
    for op in (op for group in groups for block in group.blocks for op in block.ops):
        units = dict.fromkeys(homes[link] for link in op.links if link in homes)
        found += [_ribbon(places[op.id], places[unit]) for unit in units if unit in places]
    return tuple(found)


def _ribbon(cell: Cell, other: Cell) -> Ribbon:
    x0, x1 = float(cell.x), float(cell.x) + float(cell.width)
    y0, y1 = float(other.x), float(other.x) + float(other.width)
    top, bottom = CELL_HEIGHT + 1, HEIGHT - CELL_HEIGHT - 1
    middle = (top + bottom) / 2
    path = (
        f"M{_number(x0)} {top}C{_number(x0)} {middle:g} {_number(y0)} {middle:g} {_number(y0)} {bottom}"
        f"H{_number(y1)}C{_number(y1)} {middle:g} {_number(x1)} {middle:g} {_number(x1)} {top}Z"
    )
    return Ribbon(path, cell.shade, cell.item)


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
