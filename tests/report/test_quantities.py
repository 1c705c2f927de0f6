"""Tests of compdiff.report.quantities: a table of numbers and their texts."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compdiff.report.quantities import (
    count_text,
    duration_text,
    error_text,
    interval_text,
    list_text,
    percent_text,
    ratio_text,
    share_text,
    size_text,
    value_text,
)

UNITS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (None, "-"),
        (0, "0 ns"),
        (1, "1 ns"),
        (999, "999 ns"),
        (1_000, "1.00 us"),
        (9_996, "10.0 us"),
        (99_960, "100 us"),
        (999_499, "999 us"),
        (999_500, "1.00 ms"),
        (1_234_567, "1.23 ms"),
        (12_345_678, "12.3 ms"),
        (123_456_789, "123 ms"),
        (999_999_999, "1.00 s"),
        (61_000_000_000, "61.0 s"),
    ],
)
def test_durations_have_three_digits_and_the_unit_that_fits(ns: int | None, text: str) -> None:
    """A number that rounds up to the next unit is written in it."""
    assert duration_text(ns) == text


@given(st.integers(min_value=1, max_value=10**13))
def test_a_duration_s_text_is_within_half_a_percent(ns: int) -> None:
    """What the text says is what was measured, to three digits."""
    number, unit = duration_text(ns).split(" ")
    assert abs(float(number) * UNITS[unit] - ns) <= 0.005 * ns + 0.5


@given(st.integers(min_value=1, max_value=10**11))
def test_a_duration_s_number_is_below_a_thousand(ns: int) -> None:
    """No text has a thousand of one unit where the next one exists."""
    number, unit = duration_text(ns).split(" ")
    assert float(number) < 1000 or unit == "s"


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [(1_200_000, 1_300_000, "1.20 to 1.30 ms"), (900_000, 1_300_000, "900 us to 1.30 ms")],
)
def test_intervals_name_a_unit_once_where_they_can(low: int, high: int, text: str) -> None:
    """Both bounds in one unit share it; else each has its own."""
    assert interval_text(low, high) == text


@pytest.mark.parametrize(
    ("size", "text"),
    [(None, "-"), (0, "0 B"), (1023, "1023 B"), (1024, "1.00 KiB"), (1_572_864, "1.50 MiB")],
)
def test_sizes_are_in_binary_units(size: int | None, text: str) -> None:
    """Bytes are given as GPU tools give them."""
    assert size_text(size) == text


@pytest.mark.parametrize(
    ("ratio", "text"),
    [(1.8, "1.80"), (0.954, "0.954"), (12.34, "12.3"), (345.4, "345"), (0.0, "0")],
)
def test_ratios_have_three_digits(ratio: float, text: str) -> None:
    """A speedup is not known better than to three digits."""
    assert ratio_text(ratio) == text


@pytest.mark.parametrize(("fraction", "text"), [(0.125, "12.5 %"), (0.0, "0 %"), (1.0, "100 %")])
def test_percentages(fraction: float, text: str) -> None:
    """Whole shares have no decimals."""
    assert percent_text(fraction) == text


def test_a_share_of_nothing_is_unknown() -> None:
    """A share needs a whole."""
    assert share_text(1, 0) == "-"


def test_counts_agree_with_their_noun() -> None:
    """One op call, two op calls, one copy, two copies."""
    assert [count_text(n, "op call") for n in (1, 2, 1234)] == [
        "1 op call",
        "2 op calls",
        "1,234 op calls",
    ]
    assert count_text(2, "copy", "copies") == "2 copies"


@pytest.mark.parametrize(
    ("parts", "text"),
    [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")],
)
def test_lists_are_english(parts: list[str], text: str) -> None:
    """The last part is joined with `and`."""
    assert list_text(parts) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(True, "True"), (1_048_576, "1,048,576"), (0.123456, "0.1235"), (None, "None")],
)
def test_values_are_shown_as_they_are(value: float | str | None, text: str) -> None:
    """A truth value is no number; large integers have separators."""
    assert value_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.19e-07, "1.19e-07"), (0.0, "0"), (None, "-"), (sys.float_info.max, "infinite")],
)
def test_errors(value: float | None, text: str) -> None:
    """What no number is has a word."""
    assert error_text(value) == text
