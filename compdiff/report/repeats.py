"""Stretches of a sequence that come again and again. In: keys, equal where two elements are the same. Out: Repeats.

The stretches of one repeat follow each other. One may differ in some elements, if an equal one follows it.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

import msgspec

# How many later places of an element are tried as the start of the next stretch.
_TRIED = 24
# A stretch may be longer or shorter than the first by this share, at least by so many elements.
_SLACK_SHARE, _SLACK = 0.25, 3
# At least this share of a stretch that differs is the same.
_ALIKE = 0.6


class Stretch(msgspec.Struct, frozen=True, gc=False):
    """One repetition after the first: where it starts and ends, and for each element of the first the equal one, or None."""

    start: int
    end: int
    equal: tuple[int | None, ...]


class Repeat(msgspec.Struct, frozen=True, gc=False):
    """A first stretch from `start` to before `end`, and those that follow it."""

    start: int
    end: int
    others: tuple[Stretch, ...]

    @property
    def after(self) -> int:
        """The place after the last stretch."""
        return self.others[-1].end

    @property
    def count(self) -> int:
        """How many stretches there are, the first one too."""
        return len(self.others) + 1


def find_repeats(keys: Sequence[int], sizes: Sequence[int], least: int) -> Iterator[Repeat]:
    """Yield the repeats of a sequence, in order; none overlaps another.

    Args:
        keys: one number an element.
        sizes: how much each element is worth.
        least: what a repeat must save: the sum of the sizes of all its stretches but the first.
    """
    places: dict[int, list[int]] = defaultdict(list)
    for place, key in enumerate(keys):
        places[key].append(place)
    worth = [0]
    for size in sizes:
        worth.append(worth[-1] + size)
    at = 0
    while at < len(keys):
        found = _longest(keys, places[keys[at]], at)
        if found is not None:
            found = _with_others(keys, found)
        if found is None or worth[found.after] - worth[found.end] < least:
            at += 1
        else:
            yield found
            at = found.after


def _longest(keys: Sequence[int], places: Sequence[int], start: int) -> Repeat | None:
    """Return the repeat that starts here and reaches furthest, of those the one with the shortest stretch."""
    best, reach = None, start
    first = bisect_right(places, start)
    for place in places[first : first + _TRIED]:
        length = place - start
        if 2 * length > len(keys) - start:
            break
        after = _exact_end(keys, start, length)
        if after > place and after > reach:
            best, reach = length, after
    if best is None:
        return None
    end = start + best
    others = tuple(_equal(place, best) for place in range(end, reach, best))
    return Repeat(start, end, others)


def _exact_end(keys: Sequence[int], start: int, length: int) -> int:
    """Return where equal stretches of this length end that follow the first; its own end where none does."""
    first = keys[start : start + length]
    after = start + length
    while keys[after : after + 1] == first[:1] and keys[after : after + length] == first:
        after += length
    return after


def _equal(start: int, length: int) -> Stretch:
    return Stretch(start, start + length, tuple(range(start, start + length)))


def _with_others(keys: Sequence[int], repeat: Repeat) -> Repeat:
    """Return the repeat with the stretches after it that differ, each of which an equal one must follow."""
    others = list(repeat.others)
    length = repeat.end - repeat.start
    while True:
        differs = _differing(keys, repeat, others[-1].end)
        if differs is None:
            return Repeat(repeat.start, repeat.end, tuple(others))
        others.append(differs)
        while keys[others[-1].end : others[-1].end + length] == keys[repeat.start : repeat.end]:
            others.append(_equal(others[-1].end, length))


def _differing(keys: Sequence[int], repeat: Repeat, start: int) -> Stretch | None:
    first = keys[repeat.start : repeat.end]
    slack = max(_SLACK, int(_SLACK_SHARE * len(first)))
    for off in sorted(range(-slack, slack + 1), key=abs):
        end = start + len(first) + off
        if end <= start or keys[end : end + 1] != first[:1]:
            continue
        if keys[end : end + len(first)] == first:
            return _laid_over(first, keys[start:end], start)
    return None


def _laid_over(first: Sequence[int], other: Sequence[int], start: int) -> Stretch | None:
    equal: list[int | None] = [None] * len(first)
    for block in SequenceMatcher(a=first, b=other, autojunk=False).get_matching_blocks():
        for index in range(block.size):
            equal[block.a + index] = start + block.b + index
    alike = sum(place is not None for place in equal)
    if alike < _ALIKE * len(first):
        return None
    return Stretch(start, start + len(other), tuple(equal))
