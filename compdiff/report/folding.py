"""Repeated layers of the alignment, folded. In: groups and rewrite cards. Out: what is shown once, and for how many.

Two groups are the same where all that a reader would compare is: ops, shapes, fates, rules, source, what they became.
Ids differ, and so may the digits in names of modules, of graph nodes and of generated kernels. The page shows the first
repetition; `cells` holds what stands in it, and for each other one what stands in the same places.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

import msgspec

from compdiff.report.cards import RewriteCard
from compdiff.report.lookup import Ref
from compdiff.report.naming import clipped
from compdiff.report.quantities import count_text
from compdiff.report.repeats import Repeat, Stretch, find_repeats
from compdiff.report.rows import Group, LeftOp, RightItem

# A repeat that saves fewer op calls than this is not worth a heading.
_LEAST_SAVED = 8
_DIGITS = re.compile(r"\d+")
_LONGEST_LABEL = 60

Cells = dict[str, str | None]


class Repetition(msgspec.Struct, frozen=True, gc=False):
    """One repetition after the first: its number, from 2 on, its first left op, its module, and what differs in it."""

    number: int
    first: str
    label: str
    differing: tuple[Group, ...] = ()
    missing: int = 0


class Fold(msgspec.Struct, frozen=True, gc=False):
    """Groups shown once that stand for several repetitions of them.

    `cells` are the texts of the first one that others have otherwise; `texts` has what stands there in each other one.
    """

    id: str
    groups: tuple[Group, ...]
    label: str
    size: str
    others: tuple[Repetition, ...]
    cells: tuple[str, ...]
    texts: tuple[tuple[str | None, ...], ...]

    @property
    def count(self) -> int:
        """How many repetitions there are, the first one too."""
        return len(self.others) + 1

    @property
    def unlike(self) -> int:
        """How many repetitions differ from the first in something."""
        return sum(bool(other.differing or other.missing) for other in self.others)


class Folding(msgspec.Struct, frozen=True, gc=False):
    """The alignment with its repeats folded.

    `anchors` names, for each item that is not shown, the one that stands for it; `repeats` the other way round, all of them.
    """

    rows: tuple[Group | Fold, ...]
    anchors: dict[str, str]
    repeats: dict[str, tuple[str, ...]]

    @property
    def folds(self) -> tuple[Fold, ...]:
        """The folds alone."""
        return tuple(row for row in self.rows if isinstance(row, Fold))

    def shown(self, item: str) -> bool:
        """Return whether the page shows an item by itself."""
        return item not in self.anchors


UNFOLDED = Folding((), {}, {})


def fold(groups: Sequence[Group], cards: Sequence[RewriteCard]) -> Folding:
    """Return the alignment with its repeats folded, and the cards of rewrites with them."""
    numbers: dict[object, int] = {}
    keys = [numbers.setdefault(_key(group), len(numbers)) for group in groups]
    sizes = [group.size or len(group.items) for group in groups]
    by_id = {card.id: card for card in cards}
    rows: list[Group | Fold] = []
    anchors: dict[str, str] = {}
    done = 0
    for repeat in find_repeats(keys, sizes, _LEAST_SAVED):
        mappings = [_mapping(groups, repeat, other) for other in repeat.others]
        if any(mapping is None for mapping in mappings):
            continue
        known = [mapping for mapping in mappings if mapping is not None]
        rows += groups[done : repeat.start]
        done = repeat.after
        homes = _homes(groups[repeat.start : repeat.end])
        homes += _with_cards(known, by_id)
        anchors |= {
            other: home
            for mapping in known
            for home in homes
            if (other := mapping.get(home)) and other != home
        }
        number = sum(isinstance(row, Fold) for row in rows) + 1
        rows.append(_fold(f"f{number}", groups, repeat, known))
    rows += groups[done:]
    repeats: dict[str, list[str]] = {}
    for other, home in anchors.items():
        repeats.setdefault(home, []).append(other)
    return Folding(tuple(rows), anchors, {home: tuple(others) for home, others in repeats.items()})


def _fold(name: str, groups: Sequence[Group], repeat: Repeat, mappings: list[Cells]) -> Fold:
    first = tuple(groups[repeat.start : repeat.end])
    cells = list(dict.fromkeys(cell for mapping in mappings for cell in mapping))
    varied = [cell for cell in cells if any(mapping.get(cell) != cell for mapping in mappings)]
    return Fold(
        id=name,
        groups=first,
        label=_label(first),
        size=_size(first),
        others=tuple(
            _repetition(groups, repeat, other, number)
            for number, other in enumerate(repeat.others, 2)
        ),
        cells=tuple(varied),
        texts=tuple(tuple(mapping.get(cell) for cell in varied) for mapping in mappings),
    )


def _repetition(groups: Sequence[Group], repeat: Repeat, other: Stretch, number: int) -> Repetition:
    own = groups[other.start : other.end]
    equal = set(other.equal)
    differing = tuple(group for place, group in enumerate(own, other.start) if place not in equal)
    return Repetition(
        number=number,
        first=next(iter(_left_ids(own)), ""),
        label=_label(own),
        differing=differing,
        missing=sum(
            groups[repeat.start + index].size
            for index, place in enumerate(other.equal)
            if place is None
        ),
    )


def _size(groups: Sequence[Group]) -> str:
    ops = sum(group.size for group in groups)
    items = sum(len(group.items) for group in groups)
    return f"{count_text(ops, 'op call')} became {items:,} each"


def _label(groups: Sequence[Group]) -> str:
    """Return the module that all op calls of these groups lie in, "" where none is known."""
    modules = [op.module.split(".") for op in _left(groups) if op.module]
    if not modules:
        return ""
    shared = []
    for parts in zip(*modules, strict=False):
        if len(set(parts)) > 1:
            break
        shared.append(parts[0])
    return clipped(".".join(shared), _LONGEST_LABEL)


def _left(groups: Iterable[Group]) -> Iterator[LeftOp]:
    for group in groups:
        for block in group.blocks:
            yield from block.ops


def _left_ids(groups: Iterable[Group]) -> Iterator[str]:
    return (op.id for op in _left(groups))


def _made(groups: Iterable[Group]) -> Iterator[RightItem]:
    for group in groups:
        for item in group.items:
            yield item
            yield from item.nested


def _homes(groups: Sequence[Group]) -> list[str]:
    """Return the items that these groups show in full: op calls of both sides, kernels."""
    left = [item for op in _left(groups) for item in (op.id, *(ref.id for ref in op.kernels))]
    return [*left, *(item.id for item in _made(groups))]


# ---------------------------------------------------------------- what is the same


@lru_cache(maxsize=1 << 14)
def _loose(text: str) -> str:
    """Return a text with its numbers left out."""
    return _DIGITS.sub("#", text)


def _key(group: Group) -> object:
    return (
        group.phase,
        group.fate,
        tuple((block.source, tuple(map(_op_key, block.ops))) for block in group.blocks),
        tuple(map(_item_key, group.items)),
        tuple(_loose(ref.name) for ref in group.elsewhere),
    )


def _op_key(op: LeftOp) -> object:
    return (
        op.name, op.kind, op.work, op.arguments, op.outputs, op.fate, op.certainty,
        _loose(op.module), op.rewrite.name if op.rewrite else "", _loose(op.why),
        tuple(ref.name for ref in op.kernels), len(op.links), bool(op.code),
    )  # fmt: skip


def _item_key(item: RightItem) -> object:
    return (
        _loose(item.name) if item.code else item.name, item.kind, item.work, item.arguments, item.outputs,
        _loose(item.introduced), item.unexplained, len(item.recomputed), len(item.links), bool(item.code),
        tuple(map(_item_key, item.nested)),
    )  # fmt: skip


def _card_key(card: RewriteCard) -> object:
    return (
        card.rule, card.by_pass, card.location, card.source, card.why, card.outcome, card.outcome_why, card.estimate,
        tuple((item.detail, item.shared) for item in (*card.before, *card.after)),
        len(card.before), tuple(map(_loose, card.evidence)),
    )  # fmt: skip


# ---------------------------------------------------------------- what stands in the same places


def _mapping(groups: Sequence[Group], repeat: Repeat, other: Stretch) -> Cells | None:
    """Return for each cell of the first stretch that of another; None where one cell would be two."""
    mapping: Cells = {}
    for place, equal in enumerate(other.equal, repeat.start):
        own = groups[equal] if equal is not None else None
        first = list(_cells(groups[place]))
        texts: Sequence[str | None] = [None] * len(first) if own is None else list(_cells(own))
        if not _lay(mapping, first, texts):
            return None
    return mapping


def _lay(mapping: Cells, cells: Sequence[str], texts: Sequence[str | None]) -> bool:
    """Put pairs into a mapping and return True; return False, having put in none, where one contradicts it."""
    new: Cells = {}
    for cell, text in zip(cells, texts, strict=True):
        known = mapping.get(cell, new.get(cell))
        if known is not None and text is not None and known != text:
            return False
        if known is None:
            new[cell] = text
    mapping.update(new)
    return True


def _cells(group: Group) -> Iterator[str]:
    """Yield what may differ between two equal groups, empty texts left out as both leave them out."""
    for op in _left([group]):
        yield from _op_cells(op)
    for item in _made([group]):
        yield from _item_cells(item)
    for ref in group.elsewhere:
        yield from _ref_cells(ref)


def _op_cells(op: LeftOp) -> Iterator[str]:
    yield op.id
    yield from filter(None, (op.module, op.why, op.code))
    if op.rewrite:
        yield op.rewrite.id
    for ref in op.kernels:
        yield ref.id
    yield from op.links


def _item_cells(item: RightItem) -> Iterator[str]:
    yield item.id
    yield from filter(None, (item.introduced, item.code))
    if item.code:
        yield item.name
    for ref in item.recomputed:
        yield from _ref_cells(ref)
    yield from item.links


def _ref_cells(ref: Ref) -> Iterator[str]:
    yield ref.id
    yield ref.name


def _card_cells(card: RewriteCard) -> Iterator[str]:
    yield card.id
    yield from card.evidence
    for item in (*card.before, *card.after):
        yield from _ref_cells(item.ref)


def _with_cards(mappings: Sequence[Cells], cards: dict[str, RewriteCard]) -> list[str]:
    """Return the rewrites of the first repetition whose cards stand for those of all others.

    What stands in these cards is put into the mappings.
    """
    found = []
    for cell in list(mappings[0]):
        card = cards.get(cell)
        if card is not None and all(_same_card(card, mapping, cards) for mapping in mappings):
            for mapping in mappings:
                other = cards.get(mapping[cell] or "")
                texts = list(_card_cells(other)) if other else [None] * len(list(_card_cells(card)))
                _lay(mapping, list(_card_cells(card)), texts)
            found.append(cell)
    return found


def _same_card(card: RewriteCard, mapping: Cells, cards: dict[str, RewriteCard]) -> bool:
    name = mapping.get(card.id)
    if name is None:
        return True
    other = cards.get(name)
    if other is None or _card_key(card) != _card_key(other):
        return False
    return _lay(dict(mapping), list(_card_cells(card)), list(_card_cells(other)))
