"""The strips of the first screen as HTML. In: Strips. Out: shapes and links of SVG, every text escaped."""

from compdiff.report.lane_markup import fate_class
from compdiff.report.markup import text
from compdiff.report.shades import SHADES
from compdiff.report.strips import Cell, Ribbon, Strips


def strip_shapes(strips: Strips) -> str:
    """Return ribbons, and over them the cells."""
    return "".join((*map(_ribbon, strips.ribbons), *map(_cell, strips.cells)))


def _ribbon(ribbon: Ribbon) -> str:
    item = text(ribbon.item)
    return f'<path class="ribbon {fate_class(ribbon.shade)}" d="{ribbon.path}" data-of="{item}"></path>'


def _cell(cell: Cell) -> str:
    shade = SHADES[cell.shade]
    hollow = " hollow" if shade.hollow else ""
    place = f'x="{cell.x}" y="{cell.y}" width="{cell.width}" height="{shade.height}"'
    drawn = f'<title>{text(cell.title)}</title><rect class="shape{hollow}" {place}></rect>'
    kind = fate_class(cell.shade)
    if not cell.item:
        return f'<g class="{kind}">{drawn}</g>'
    item = text(cell.item)
    return f'<a class="{kind}" tabindex="-1" href="#{item}" data-of="{item}">{drawn}</a>'
