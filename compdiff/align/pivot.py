"""Two sides of two runs against each other. In: both eager sides, each side's items. Out: pairs, and groups that changed.

Neither side is the eager form of the other: what both share are the eager op calls whose work their items do. An eager op
call of either run is a pivot, and paired ones are one pivot.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from compdiff.align.items import item_name
from compdiff.align.sequence import common_pairs, leftover_pairs
from compdiff.model import GENERATED, Kernel, OpCall

# What the compiler appends to make a generated kernel's name unique: a running number, a hash, or both.
_SUFFIX = re.compile(r"(_(\d+|[0-9a-f]{8,}))+$")


@dataclass(frozen=True)
class EagerPairs:
    """The pivots of both runs' eager op calls, in their order, and the call of each pivot (the left one of a pair).

    `reshaped` are pairs of the same op with other shapes or dtypes.
    """

    left: tuple[int, ...]
    right: tuple[int, ...]
    calls: Mapping[int, OpCall]
    reshaped: frozenset[int] = frozenset()

    @property
    def shared(self) -> frozenset[int]:
        """The pivots that both runs have."""
        return frozenset(self.left) & frozenset(self.right)

    @property
    def are_equal(self) -> bool:
        """Whether both runs make the same eager op calls in the same order."""
        return self.left == self.right and not self.reshaped


def pair_eager(left: Sequence[OpCall], right: Sequence[OpCall]) -> EagerPairs:
    """Return the pivots: the same op on the same shapes and dtypes in order, else with other shapes between such pairs."""
    left_keys, right_keys = [_key(call) for call in left], [_key(call) for call in right]
    pairs = common_pairs(left_keys, right_keys)
    reshaped = _between(left, right, pairs)
    pairs += reshaped
    pairs += leftover_pairs(left_keys, right_keys, pairs)
    partner = {other: index for index, other in pairs}
    pivots = tuple(partner.get(index, len(left) + index) for index in range(len(right)))
    calls = {**dict(zip(pivots, right, strict=True)), **dict(enumerate(left))}
    return EagerPairs(
        left=tuple(range(len(left))),
        right=pivots,
        calls=calls,
        reshaped=frozenset(index for index, _ in reshaped),
    )


def _key(call: OpCall) -> Hashable:
    return call.name, call.overload, call.phase, tuple((t.shape, t.dtype) for t in call.inputs)


def _between(
    left: Sequence[OpCall], right: Sequence[OpCall], anchors: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Return pairs of the same op in order, whatever its shapes, among the calls between one anchor and the next."""
    found: list[tuple[int, int]] = []
    after_left, after_right = 0, 0
    for stop_left, stop_right in [*sorted(anchors), (len(left), len(right))]:
        gap = (left[after_left:stop_left], right[after_right:stop_right])
        keys = [[(call.name, call.overload, call.phase) for call in calls] for calls in gap]
        found += [(after_left + a, after_right + b) for a, b in common_pairs(keys[0], keys[1])]
        after_left, after_right = stop_left + 1, stop_right + 1
    return found


# ---------------------------------------------------------------- items


@dataclass(frozen=True)
class Item:
    """An op call, or a kernel that no op call launched, with the pivots whose work it does.

    `id` is the diff's. `reason` says why the compiler introduced an item that does none. `launched` are the names of the
    kernels that an op call launched, `code` the body of a generated kernel with its name taken out.
    """

    id: str
    made: OpCall | Kernel
    work: frozenset[int] = frozenset()
    reason: str = ""
    launched: tuple[str, ...] = ()
    code: str = ""
    backward: bool = False

    @property
    def name(self) -> str:
        """The name to show."""
        return item_name(self.made)

    @property
    def is_generated(self) -> bool:
        """Whether the compiler wrote it."""
        return isinstance(self.made, Kernel) and self.made.kind in GENERATED

    @property
    def kind(self) -> str:
        """What it is: `op call`, or the kind of kernel."""
        return self.made.kind if isinstance(self.made, Kernel) else "op call"

    @property
    def base(self) -> str:
        """What is compared: the op without overload, a generated kernel's name without number and hash."""
        return _SUFFIX.sub("", self.made.name) if self.is_generated else self.made.name


@dataclass(frozen=True)
class Group:
    """Items that are not the same on both sides, connected by the pivots whose work they do."""

    left: tuple[Item, ...] = ()
    right: tuple[Item, ...] = ()

    @property
    def first(self) -> tuple[bool, int]:
        """Where the group stands among others: by its first pivot, groups without one last."""
        work = [pivot for item in (*self.left, *self.right) for pivot in item.work]
        return not work, min(work, default=0)


@dataclass(frozen=True)
class Pivoted:
    """All items of both sides: each stands in one kept pair or in one group."""

    eager: EagerPairs
    left: tuple[Item, ...]
    right: tuple[Item, ...]
    kept: tuple[tuple[Item, Item], ...]
    groups: tuple[Group, ...]


def pivot(eager: EagerPairs, left: Sequence[Item], right: Sequence[Item]) -> Pivoted:
    """Return which items are the same on both sides, and the rest in connected groups."""
    kept = _same_items(left, right)
    kept += _same_code(_without(left, kept), _without(right, kept))
    rest = (_without(left, kept), _without(right, kept))
    same_work = _same_work(*rest)
    groups = [Group((one,), (other,)) for one, other in same_work]
    groups += _connected(_without(rest[0], same_work), _without(rest[1], same_work))
    return Pivoted(
        eager=eager,
        left=tuple(left),
        right=tuple(right),
        kept=tuple(kept),
        groups=tuple(sorted(groups, key=lambda group: group.first)),
    )


def _without(items: Sequence[Item], pairs: Sequence[tuple[Item, Item]]) -> list[Item]:
    """Return the items that stand in no pair."""
    used = {item.id for pair in pairs for item in pair}
    return [item for item in items if item.id not in used]


def _same_items(left: Sequence[Item], right: Sequence[Item]) -> list[tuple[Item, Item]]:
    """Return the pairs that do the same work by the same thing, first with first.

    Where one side has more of them, one item became several: no pair then, unless they do no eager op call's work.
    """

    def key(item: Item) -> tuple[object, ...]:
        return item.work, item.kind, item.base, item.launched, item.backward

    sides = [_by_key(items, key) for items in (left, right)]
    pairs = []
    for name, ours in sides[0].items():
        theirs = sides[1].get(name, [])
        if len(ours) == len(theirs) or not ours[0].work:
            pairs += list(zip(ours, theirs, strict=False))
    return pairs


def _same_code(left: Sequence[Item], right: Sequence[Item]) -> list[tuple[Item, Item]]:
    """Return the pairs of equal generated code for some common work: only the compiler's account of it differs."""
    pairs = []
    waiting = [item for item in right if item.code]
    for item in left:
        same = (
            other
            for other in waiting
            if other.code == item.code
            and other.backward == item.backward
            and (other.work & item.work or not other.work | item.work)
        )
        twin = next(same, None)
        if twin is not None:
            waiting.remove(twin)
            pairs.append((item, twin))
    return pairs


def _same_work(left: Sequence[Item], right: Sequence[Item]) -> list[tuple[Item, Item]]:
    """Return pairs of the same work by other things, where both sides have equally many."""

    def key(item: Item) -> tuple[object, ...]:
        return item.work, item.backward

    sides = [_by_key(items, key) for items in (left, right)]
    return [
        (one, other)
        for name, ours in sides[0].items()
        if ours[0].work and len(ours) == len(sides[1].get(name, []))
        for one, other in zip(ours, sides[1][name], strict=True)
    ]


@dataclass
class _Sets:
    """Disjoint sets of pivots and item ids."""

    parent: dict[Hashable, Hashable] = field(default_factory=dict)

    def root(self, one: Hashable) -> Hashable:
        self.parent.setdefault(one, one)
        while self.parent[one] != one:
            self.parent[one] = one = self.parent[self.parent[one]]
        return one

    def join(self, one: Hashable, other: Hashable) -> None:
        self.parent[self.root(one)] = self.root(other)


def _connected(left: Sequence[Item], right: Sequence[Item]) -> list[Group]:
    """Return the connected components of items by shared pivots; an item without any stands alone.

    A pivot connects within one direction only: a backward kernel that recomputes forward work is not a part of it.
    """
    sets = _Sets()
    for item in (*left, *right):
        for number in item.work:
            sets.join(item.id, (number, item.backward))
    sides = [_by_key(items, lambda item: (sets.root(item.id),)) for items in (left, right)]
    return [
        Group(tuple(sides[0].get(root, ())), tuple(sides[1].get(root, ())))
        for root in dict.fromkeys([*sides[0], *sides[1]])
    ]


def _by_key(
    items: Iterable[Item], key: Callable[[Item], tuple[object, ...]]
) -> dict[tuple[object, ...], list[Item]]:
    found: dict[tuple[object, ...], list[Item]] = defaultdict(list)
    for item in items:
        found[key(item)].append(item)
    return dict(found)
