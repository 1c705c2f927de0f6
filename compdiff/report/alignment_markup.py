"""The rows of the alignment as HTML. In: groups. Out: list items, every text escaped."""

from collections.abc import Iterator, Sequence

from compdiff.report.markup import (
    badge,
    code_link,
    detail,
    item_link,
    ref,
    ref_list,
    signature,
    source,
    text,
)
from compdiff.report.rows import Block, Group, LeftOp, RightItem


def alignment_rows(groups: Sequence[Group], left_label: str, added: str) -> str:
    """Return the groups, with a heading where a phase begins; `added` is the word for what no op call became."""
    return "".join(_rows(groups, left_label, added))


def _rows(groups: Sequence[Group], left_label: str, added: str) -> Iterator[str]:
    phase = "forward"
    for group in groups:
        if group.phase != phase:
            phase = group.phase
            yield f'<li class="phase"><h3>{text(phase.capitalize())}</h3></li>\n'
        pairs = "".join(map(_pair, group.blocks))
        yield (
            f'<li class="group fate-{text(group.fate)}">\n<div class="pairs">\n'
            f"{pairs or _none(f'no {left_label} op call')}</div>\n"
            f'<div class="became">\n{_became(group, added)}</div>\n</li>\n'
        )


def _none(words: str) -> str:
    return f'<p class="none">{text(words)}</p>\n'


def _became(group: Group, added: str) -> str:
    made = "".join(_made(item, added) for item in group.items)
    parts = [f'<ul class="ops">\n{made}</ul>\n' if made else ""]
    if group.elsewhere:
        where = "also in" if group.items else "in"
        parts.append(f'<p class="elsewhere">{where} {ref_list(group.elsewhere)}</p>\n')
    elif not group.items:
        parts.append(_none(f"nothing runs for {'it' if group.size == 1 else 'them'}"))
    return "".join(parts)


def _pair(block: Block) -> str:
    where = source(block.source) if block.source else '<span class="place">source unknown</span>'
    ops = "".join(map(_op, block.ops))
    return f'<div class="pair">\n<ul class="ops">\n{ops}</ul>\n<div class="source">{where}</div>\n</div>\n'


def _start(item: LeftOp | RightItem, kind: str) -> str:
    """Return the start of an item up to its name."""
    links = " ".join(map(text, item.links))
    return (
        f'<li id="{text(item.id)}" class="item {kind}" data-of="{text(item.id)}" data-links="{links}">\n'
        f'<div class="title">{item_link(item.id)} <code class="name">{text(item.name)}</code>'
    )


def _op(item: LeftOp) -> str:
    certainty = f' <span class="tag">{text(item.certainty)}</span>' if item.certainty else ""
    what = (
        f'<span class="kind">{text(item.kind)}</span>\n'
        if item.kind
        else f'<div class="signature">{signature(item.arguments, item.outputs)}</div>\n'
    )
    kernels = f'<div class="detail">ran {ref_list(item.kernels)}</div>\n' if item.kernels else ""
    return (
        f"{_start(item, f'fate-{text(item.fate)}')} {badge(item.fate)}\n"
        f"{certainty}{_rewrite(item)}{code_link(item.code)}</div>\n{what}"
        f"{detail('for ', item.work)}{detail('module ', item.module)}{detail('', item.why)}{kernels}</li>\n"
    )


def _rewrite(item: LeftOp) -> str:
    if item.rewrite is None:
        return ""
    place = text(item.rewrite.id)
    return f' <a class="by" href="#{place}" data-of="{place}">{place} {text(item.rewrite.name)}</a>'


def _made(item: RightItem, added: str) -> str:
    mark = f" {badge(added)}" if item.introduced else ""
    if item.unexplained and not mark:
        mark = f" {badge('unexplained')}"
    fate = " fate-introduced" if item.introduced else ""
    fate += " fate-unexplained" if item.unexplained else ""
    takes = item.arguments or item.outputs
    shown = (
        f'<div class="signature">{signature(item.arguments, item.outputs)}</div>\n' if takes else ""
    )
    return (
        f"{_start(item, f'made{fate}')}\n{mark}"
        f' <span class="kind">{text(item.kind)}</span>\n{code_link(item.code)}</div>\n{shown}'
        f"{detail('for ', item.work)}{detail('', item.introduced)}{_again(item)}{_nested(item, added)}</li>\n"
    )


def _again(item: RightItem) -> str:
    if not item.recomputed:
        return ""
    others = ", ".join(map(ref, item.recomputed))
    return f'<div class="detail">does again what another kernel does: {others}</div>\n'


def _nested(item: RightItem, added: str) -> str:
    inside = "".join(_made(kernel, added) for kernel in item.nested)
    return f'<ul class="nested">{inside}</ul>\n' if inside else ""
