"""Where left places lie among right ones. In: pairs that are known. Out: how many of them another pair would cross.

Compiled code runs what eager mode runs in nearly the same order. The pairs that agree on the order are anchors: a further
pair that lies before one on the left and after it on the right crosses it, and is the less likely for each that it crosses.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence

Pair = tuple[int, int]


class Anchors:
    """The longest run of pairs that rises on both sides; several left places may share a right one."""

    def __init__(self, pairs: Iterable[Pair]) -> None:
        """Keep of the pairs those that agree on the order."""
        kept = rising(sorted(set(pairs)))
        self._left = [left for left, _ in kept]
        self._right = [right for _, right in kept]

    def crossed(self, left: int, right: int) -> int:
        """Return how many anchors a pair crosses."""
        rank_low, rank_high = bisect_left(self._left, left), bisect_right(self._left, left)
        low, high = bisect_left(self._right, right), bisect_right(self._right, right)
        return max(0, low - rank_high, rank_low - high)

    def centers(self, left: Sequence[int], right: Sequence[int]) -> list[int]:
        """Return for each left place near which of the right ones, by index, its partner is to be looked for.

        Where several lie between the same anchors they are spread evenly.
        """
        ranks = [bisect_right(self._left, place) for place in left]
        total, seen = Counter(ranks), Counter[int]()
        found = []
        for rank in ranks:
            low = bisect_left(right, self._right[rank - 1]) if rank else 0
            high = bisect_right(right, self._right[rank]) if rank < len(self._right) else len(right)
            found.append(low + (high - low) * seen[rank] // total[rank])
            seen[rank] += 1
        return found

    def span(self, right: int) -> Pair:
        """Return the left places of the anchors around a right place, exclusive; -1 and a large number are the ends."""
        low, high = bisect_left(self._right, right), bisect_right(self._right, right)
        first = self._left[low - 1] if low else -1
        return first, self._left[high] if high < len(self._left) else 1 << 62


def rising(pairs: Sequence[Pair]) -> list[Pair]:
    """Return a longest run of pairs, given in left order with each left place once or more, that rises on both sides."""
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for index, (_, right) in enumerate(pairs):
        at = bisect_right(tails, right)
        before.append(ends[at - 1] if at else -1)
        tails[at : at + 1] = [right]
        ends[at : at + 1] = [index]
    found = []
    index = ends[-1] if ends else -1
    while index >= 0:
        found.append(pairs[index])
        index = before[index]
    return found[::-1]
