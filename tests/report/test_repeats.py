"""Stretches that come again: found whole, with those that differ, never overlapping."""

from hypothesis import given
from hypothesis import strategies as st

from compdiff.report.repeats import Repeat, find_repeats


def found(text: str, least: int = 1) -> list[Repeat]:
    """Return the repeats of a text of which each letter is an element worth one."""
    return list(find_repeats([ord(letter) for letter in text], [1] * len(text), least))


def stretches(text: str, least: int = 1) -> list[list[str]]:
    """Return for each repeat the text of all of its stretches."""
    return [
        [text[it.start : it.end], *(text[other.start : other.end] for other in it.others)]
        for it in found(text, least)
    ]


def test_equal_stretches() -> None:
    """Between others, of any length."""
    assert stretches("xabcabcabcy") == [["abc", "abc", "abc"]]
    assert stretches("xaaaay") == [["a", "a", "a", "a"]]


def test_what_reaches_furthest_is_taken() -> None:
    """A layer that repeats itself inside is repeated as a whole."""
    assert stretches("aabaabaab") == [["aab", "aab", "aab"]]


def test_one_that_differs() -> None:
    """An equal one follows it; what is not the same has no counterpart."""
    text = "abcdeabcdeabXdeabcde"
    (repeat,) = found(text)
    assert stretches(text) == [["abcde", "abcde", "abXde", "abcde"]]
    assert repeat.others[1].equal == (10, 11, None, 13, 14)


def test_one_that_is_longer() -> None:
    """What is more in it belongs to it."""
    assert stretches("abcdeabcdeabcZdeabcde") == [["abcde", "abcde", "abcZde", "abcde"]]


def test_what_saves_too_little_is_left() -> None:
    """The first stretch saves nothing."""
    assert found("xabaxy", 3) == []
    assert stretches("ababab", 4) == [["ab", "ab", "ab"]]
    assert found("ababab", 5) == []


@given(st.text("ab", max_size=40))
def test_no_repeat_overlaps_another(text: str) -> None:
    """They come in order, and each stretch follows the one before."""
    end = 0
    for repeat in found(text):
        assert repeat.start >= end
        end = repeat.end
        for other in repeat.others:
            assert other.start == end
            assert len(other.equal) == repeat.end - repeat.start
            end = other.end
    assert end <= len(text)


@given(st.text("abc", max_size=40))
def test_equal_elements_are_equal(text: str) -> None:
    """What is said to be the same is."""
    for repeat in found(text):
        first = text[repeat.start : repeat.end]
        for other in repeat.others:
            for letter, place in zip(first, other.equal, strict=True):
                assert place is None or text[place] == letter
