"""Pieces of HTML that stand in rows. In: texts and views. Out: HTML in which every text is escaped.

What stands once in a page is written by a template. Rows may be ten thousand, which takes jinja2 as long as all the
rest of an import, so they are written here and in the modules beside this one.
"""

from collections.abc import Sequence
from functools import lru_cache
from html import escape

from compdiff.report.lookup import Ref
from compdiff.report.rows import SourceLine

_TEXTS = 1 << 14


# The same names and sentences come again and again.
@lru_cache(maxsize=_TEXTS)
def text(value: str) -> str:
    """Return a text as HTML, for content and for attributes in double quotes."""
    return escape(value)


def ref(item: Ref) -> str:
    """Return a link to an item."""
    place = text(item.id)
    words = f'<span class="id">{place}</span> <span>{text(item.name)}</span>'
    return f'<a class="ref" href="#{place}" data-of="{place}">{words}</a>'


def ref_list(items: Sequence[Ref]) -> str:
    """Return links with commas between them."""
    return ", ".join(map(ref, items))


def refs(items: Sequence[Ref], most: int = 8) -> str:
    """Return links, those beyond `most` folded away."""
    if len(items) <= most:
        return ref_list(items)
    more = f"<summary>{len(items) - most} more</summary>\n{ref_list(items[most:])}"
    return f'{ref_list(items[:most])}\n <details class="more">{more}\n</details>\n'


@lru_cache(maxsize=64)
def badge(kind: str) -> str:
    """Return a fate with its colour and sign."""
    return f'<span class="badge fate-{text(kind.replace(" ", "-"))}">{text(kind)}</span>'


def bar(width: str) -> str:
    """Return a bar of this width of 100."""
    return (
        '<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect width="{text(width)}" height="8"></rect></svg>'
    )


def source(line: SourceLine) -> str:
    """Return a source line with its place, what made the op calls marked."""
    function = f' <span class="in">in {text(line.function)}</span>' if line.function else ""
    place = f'<span class="place">{text(line.place)}{function}</span>\n'
    if not line.marked:
        return place
    code = f"{text(line.before)}<mark>{text(line.marked)}</mark>{text(line.after)}"
    return f'{place}<code class="line">{code}</code>\n'


def item_link(item: str) -> str:
    """Return the id of an item as a link to itself."""
    return f'<a class="id" href="#{text(item)}">{text(item)}</a>'


def detail(label: str, value: str) -> str:
    """Return a minor line, nothing where there is no value; `value` is text."""
    if not value:
        return ""
    # A value stands in an element of its own, so that the script can put that of another repetition in its place.
    shown = f"{label}<span>{text(value)}</span>" if label else text(value)
    return f'<div class="detail">{shown}</div>\n'


def again(words: str) -> str:
    """Return of how many repetitions a row has the sum, nothing where it is of one."""
    return f' <span class="tag again">{text(words)}</span>' if words else ""


def signature(arguments: str, outputs: str) -> str:
    """Return what goes in and what comes out, where that is known."""
    return (
        f'{text(arguments)} <span class="to">→</span> {text(outputs)}'
        if outputs
        else text(arguments)
    )


def code_link(anchor: str) -> str:
    """Return a link to generated code, nothing where there is none."""
    return f' <a class="by" href="#{text(anchor)}">code</a>' if anchor else ""
