"""Integers in few bytes come back as they were."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compdiff.archive.columns import Column, pack, unpack
from compdiff.errors import FormatError

_NUMBERS = st.lists(st.integers(-(2**62), 2**62) | st.integers(0, 300))


@given(_NUMBERS)
def test_packing_loses_nothing(values: list[int]) -> None:
    """Any integers, large, negative or none, come back in order."""
    column = msgspec.msgpack.decode(msgspec.msgpack.encode(pack(values)), type=Column)

    assert unpack(column) == values


def test_times_that_lie_close_take_few_bytes() -> None:
    """Clock readings of 16 digits that rise by microseconds take two bytes each."""
    times = [5_432_693_048_930_323 + 1000 * turn + turn * turn % 977 for turn in range(100)]

    assert len(pack(times).data) <= 200


@pytest.mark.parametrize("value", [2**70, -(2**70)])
def test_a_number_that_no_run_has_is_refused(value: int) -> None:
    """What no index could hold is an error that says so."""
    with pytest.raises(FormatError, match="bits"):
        pack([1, value])


@pytest.mark.parametrize(
    "column",
    [
        Column(3, 0, 1, b"ab"),
        Column(-1, 0, 0, b""),
        Column(10**12, 0, 0, b""),
        Column(1, 0, -1, b""),
        Column(1, 0, 10**6, b"a" * 10**6),
    ],
)
def test_a_damaged_column_is_refused(column: Column) -> None:
    """What does not fit its own count, or claims to be enormous, is an error before it is anything else."""
    with pytest.raises(FormatError, match="damaged"):
        unpack(column)
