"""Tests of compdiff.align.sequence."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from compdiff.align.sequence import common_pairs, leftover_pairs, pairs_between

_KEYS = st.lists(st.sampled_from("abcd"), max_size=12)


@given(_KEYS)
def test_a_sequence_matches_itself_whole(keys: list[str]) -> None:
    """Equal sequences pair up index by index."""
    assert common_pairs(keys, keys) == [(index, index) for index in range(len(keys))]


@given(_KEYS, _KEYS)
def test_pairs_are_equal_increasing_and_unique(left: list[str], right: list[str]) -> None:
    """A pair joins equal keys, and no pair crosses another."""
    pairs = common_pairs(left, right)
    assert all(left[a] == right[b] for a, b in pairs)
    assert all(a < c and b < d for (a, b), (c, d) in pairwise(pairs))


@given(_KEYS, _KEYS)
def test_leftovers_join_what_is_left_once(left: list[str], right: list[str]) -> None:
    """Together, no key that both sides still have is left alone."""
    pairs = common_pairs(left, right)
    pairs += leftover_pairs(left, right, pairs)
    assert len({a for a, _ in pairs}) == len({b for _, b in pairs}) == len(pairs)
    rest_left = [key for index, key in enumerate(left) if index not in {a for a, _ in pairs}]
    rest_right = [key for index, key in enumerate(right) if index not in {b for _, b in pairs}]
    assert not set(rest_left) & set(rest_right)


@given(_KEYS, _KEYS)
def test_pairs_between_lie_in_the_gap_of_their_neighbours(
    left: list[str], right: list[str]
) -> None:
    """With the first a of both sides paired, what is paired further is before it on both sides, or after it on both."""
    edge = [(left.index("a"), right.index("a"))] if "a" in left and "a" in right else []
    found = pairs_between(left, right, edge)
    assert all(left[a] == right[b] for a, b in found)
    merged = sorted([*edge, *found])
    assert all(a < c and b < d for (a, b), (c, d) in pairwise(merged))


def test_nothing_is_paired_across_a_pair() -> None:
    """The b before the pair and the b after it are different calls."""
    assert pairs_between("ba", "ab", [(1, 0)]) == []
