"""The rows of the alignment as HTML. In: groups and folds. Out: list items, every text escaped."""

from collections.abc import Iterator, Sequence

from compdiff.report.folding import Fold, Repetition
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
from compdiff.report.quantities import count_text
from compdiff.report.rows import Block, Group, LeftOp, RightItem

# A fold lists so many repetitions; the script steps through all of them.
_LISTED = 128


def alignment_rows(rows: Sequence[Group | Fold], left_label: str, added: str) -> str:
    """Return the groups, with a heading where a phase begins; `added` is the word for what no op call became."""
    return "".join(_Writer(left_label, added).rows(rows))


class _Writer:
    """Writes groups one after the other: headings stand where phase or module are others than before."""

    def __init__(self, left_label: str, added: str) -> None:
        self.left_label = left_label
        self.added = added
        self.phase = "forward"
        self.module = ""

    def rows(self, rows: Sequence[Group | Fold]) -> Iterator[str]:
        """Yield the list items of groups and folds."""
        for row in rows:
            groups = row.groups if isinstance(row, Fold) else (row,)
            if groups[0].phase != self.phase:
                self.phase = groups[0].phase
                yield f'<li class="phase"><h3>{text(self.phase.capitalize())}</h3></li>\n'
            yield self._fold(row) if isinstance(row, Fold) else self._group(row)

    def _fold(self, fold: Fold) -> str:
        self.module = ""
        first = "".join(map(self._group, fold.groups))
        differing = "".join(self._differing(other) for other in fold.others if _differs(other))
        self.module = ""
        return (
            f'<li class="fold" id="{fold.id}">\n<div class="fold-head">'
            f'<a class="id" href="#{fold.id}">{fold.id}</a> <strong>x {fold.count:,}</strong> {_same(fold)}'
            f"{_stepper(fold)}{_listed(fold)}</div>\n"
            f'<ol class="groups" data-fold="{fold.id}">\n{first}</ol>\n{differing}</li>\n'
        )

    def _differing(self, other: Repetition) -> str:
        shown = "".join(map(self._group, other.differing))
        missing = f" {_unlike_first(other.missing)}" if other.missing else ""
        groups = f'<ol class="groups">\n{shown}</ol>\n' if shown else ""
        where = f" <code>{text(other.label)}</code>" if other.label else ""
        return (
            f'<div class="unlike"><p><span class="tag strong">differs</span> Repetition {other.number}{where}, '
            f"from {text(other.first)} on.{missing}</p>\n{groups}</div>\n"
        )

    def _group(self, group: Group) -> str:
        pairs = "".join(map(self._pair, group.blocks))
        return (
            f'<li class="group fate-{text(group.fate)}">\n<div class="pairs">\n'
            f'{pairs or _none(f"no {self.left_label} op call")}</div>\n<div class="ribbons" aria-hidden="true"></div>\n'
            f'<div class="became">\n{_became(group, self.added)}</div>\n</li>\n'
        )

    def _pair(self, block: Block) -> str:
        where = (
            source(block.source) if block.source else '<span class="place">source unknown</span>'
        )
        ops = "".join(map(self._op, block.ops))
        return f'<div class="pair">\n<ul class="ops">\n{ops}</ul>\n<div class="source">{where}</div>\n</div>\n'

    def _op(self, item: LeftOp) -> str:
        module = detail("module ", item.module) if item.module != self.module else ""
        self.module = item.module
        return _op(item, module)


def _differs(other: Repetition) -> bool:
    return bool(other.differing or other.missing)


def _same(fold: Fold) -> str:
    unlike = (
        f", {fold.unlike} with differences, shown below" if fold.unlike else ", the same rewrites"
    )
    where = ""
    if fold.label:
        last = fold.others[-1].label
        where = f" <code>{text(fold.label)}</code> to <code>{text(last)}</code>"
    return f"{text(fold.size)}{unlike}{where}"


def _unlike_first(count: int) -> str:
    are = "is" if count == 1 else "are"
    return f"{count_text(count, 'op call')} of the first {are} not like that here."


def _stepper(fold: Fold) -> str:
    number = (
        f'<input type="number" min="1" max="{fold.count}" value="1" data-repetition="{fold.id}">'
    )
    return (
        '<span class="stepper needs-script">'
        f"{_step(-1, 'Previous')} <label>Repetition {number}</label> of {fold.count:,} {_step(1, 'Next')}</span>"
    )


def _step(by: int, words: str) -> str:
    arrow = "←" if by < 0 else "→"
    return (
        f'<button type="button" data-step="{by}" aria-label="{words} repetition">{arrow}</button>'
    )


def _listed(fold: Fold) -> str:
    if not any(other.first for other in fold.others):
        return ""
    lines = "".join(
        f"<li>{other.number}: from {text(other.first)} on{f' <code>{text(other.label)}</code>' if other.label else ''}</li>"
        for other in fold.others[:_LISTED]
    )
    more = f"<li>{fold.count - 1 - _LISTED:,} more</li>" if fold.count - 1 > _LISTED else ""
    return f'<details class="others"><summary>Where</summary><ol>{lines}{more}</ol></details>'


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


def _start(item: LeftOp | RightItem, kind: str) -> str:
    """Return the start of an item up to its name."""
    links = " ".join(map(text, item.links))
    return (
        f'<li id="{text(item.id)}" class="item {kind}" data-of="{text(item.id)}" data-links="{links}">\n'
        f'<div class="title">{item_link(item.id)} <code class="name">{text(item.name)}</code>'
    )


def _op(item: LeftOp, module: str) -> str:
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
        f"{detail('for ', item.work)}{module}{detail('', item.why)}{kernels}</li>\n"
    )


def _rewrite(item: LeftOp) -> str:
    if item.rewrite is None:
        return ""
    place = text(item.rewrite.id)
    return f' <a class="by" href="#{place}" data-of="{place}"><span>{place}</span> {text(item.rewrite.name)}</a>'


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
