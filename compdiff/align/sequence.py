"""Two sequences against each other. In: keys of both sides. Out: index pairs, in order where the order agrees."""

from collections import defaultdict, deque
from collections.abc import Hashable, Sequence
from difflib import SequenceMatcher
from itertools import pairwise


def common_pairs(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Return index pairs of equal keys in the same order on both sides (equal ends first, then longest blocks)."""
    start = 0
    shortest = min(len(left), len(right))
    while start < shortest and left[start] == right[start]:
        start += 1
    stop = 0
    while stop < shortest - start and left[-1 - stop] == right[-1 - stop]:
        stop += 1
    pairs = [(index, index) for index in range(start)]
    middle_left, middle_right = left[start : len(left) - stop], right[start : len(right) - stop]
    matcher = SequenceMatcher(None, middle_left, middle_right, autojunk=False)
    for block in matcher.get_matching_blocks():
        pairs += [(start + block.a + step, start + block.b + step) for step in range(block.size)]
    pairs += [(len(left) - stop + index, len(right) - stop + index) for index in range(stop)]
    return pairs


def leftover_pairs(
    left: Sequence[Hashable], right: Sequence[Hashable], pairs: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Return pairs of equal keys among the indices that `pairs` leaves over, first with first, whatever the order."""
    used_left, used_right = {a for a, _ in pairs}, {b for _, b in pairs}
    waiting: dict[Hashable, deque[int]] = defaultdict(deque)
    for index, key in enumerate(right):
        if index not in used_right:
            waiting[key].append(index)
    found = []
    for index, key in enumerate(left):
        if index not in used_left and waiting.get(key):
            found.append((index, waiting[key].popleft()))
    return found


def pairs_between(
    left: Sequence[Hashable], right: Sequence[Hashable], pairs: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Return pairs of equal keys among the indices between each two neighbours of `pairs`, which rise on both sides."""
    edges = [(-1, -1), *pairs, (len(left), len(right))]
    found = []
    for (after_left, after_right), (left_stop, right_stop) in pairwise(edges):
        left_start, right_start = after_left + 1, after_right + 1
        if left_start < left_stop and right_start < right_stop:
            inner = common_pairs(left[left_start:left_stop], right[right_start:right_stop])
            found += [(left_start + a, right_start + b) for a, b in inner]
    return found
