"""The bars of the timeline as HTML. In: lane views. Out: links and shapes of SVG, every text escaped."""

from functools import lru_cache

from compdiff.report.lane_bars import LaneBar
from compdiff.report.markup import text
from compdiff.report.shades import SHADES, Shade
from compdiff.report.timeline import LaneView


def lane_bars(lane: LaneView) -> str:
    """Return the bars of a lane."""
    return "\n".join(_bar(bar, lane.height) for bar in lane.bars)


def shape(shade: Shade, x: str, width: str, opacity: str = "") -> str:
    """Return the shape of a shade; one with an opacity is filled."""
    hollow = " hollow" if shade.hollow and not opacity else ""
    faint = f' fill-opacity="{opacity}"' if opacity else ""
    return f'<rect class="shape{hollow}" x="{x}" y="{shade.y}" width="{width}" height="{shade.height}"{faint}></rect>'


@lru_cache(maxsize=64)
def fate_class(kind: str) -> str:
    """Return the class that sets colour and sign of a kind."""
    return f"fate-{text(kind.replace(' ', '-'))}"


def _bar(bar: LaneBar, height: int) -> str:
    link = f' href="#{text(bar.link)}"' if bar.link else ""
    item = f' data-of="{text(bar.item)}"' if bar.item else ""
    drawn = shape(SHADES[bar.shade], f"{bar.x}%", f"{bar.width}%", bar.opacity)
    return (
        f'<a class="{fate_class(bar.shade)}" tabindex="-1"{link}{item}>'
        f"<title>{text(bar.title)}</title>{drawn}{_label(bar, height)}</a>"
    )


def _label(bar: LaneBar, height: int) -> str:
    if not bar.label:
        return ""
    hollow = " hollow" if SHADES[bar.shade].hollow else ""
    words = f'<text class="name{hollow}" x="4" y="13">{text(bar.label)}</text>'
    return f'<svg x="{bar.x}%" width="{bar.width}%" height="{height}">{words}</svg>'
