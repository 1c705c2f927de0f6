"""Integers in few bytes. In: ints. Out: bytes that compress well, and the ints again.

Times of one kind lie close together: what they have in common is stored once, and of the rest the bytes of equal
weight stand side by side, since the high ones repeat and the low ones are noise.
"""

import zlib
from collections.abc import Sequence
from itertools import accumulate, pairwise

import msgspec

from compdiff.errors import FormatError

MAX_NUMBERS = 50_000_000
"""Most integers in one column: a few bytes can claim to be any number of equal ones."""
_MAX_WIDTH = 9
_LARGEST = 2**62


class Column(msgspec.Struct, frozen=True, array_like=True):
    """Integers: `base` plus what `data` holds in `width` bytes each, `count` times.

    With a `start` these are the differences from each to the next, and the first integer is `start` itself.
    """

    count: int
    base: int
    width: int
    data: bytes
    start: int | None = None


def pack(values: Sequence[int]) -> Column:
    """Return a column of the values, as they are or as differences, whichever compresses better.

    Raises:
        FormatError: a value has more than 62 bits, which no run has.
    """
    if any(not -_LARGEST <= value <= _LARGEST for value in values):
        raise FormatError("a number has more than 62 bits", "The run is damaged.")
    plain = _packed(values)
    if not values:
        return plain
    steps = _packed([later - earlier for earlier, later in pairwise(values)], values[0])
    return min(plain, steps, key=lambda column: len(zlib.compress(column.data)))


def unpack(column: Column) -> list[int]:
    """Return the values of a column.

    Raises:
        FormatError: the column is damaged.
    """
    count, width, data = column.count, column.width, column.data
    if not (0 <= count <= MAX_NUMBERS and 0 <= width <= _MAX_WIDTH and len(data) == count * width):
        raise FormatError("a column of numbers is damaged")
    planes = [data[start : start + count] for start in range(0, count * width, count or 1)]
    rows = zip(*planes, strict=True) if planes else ((),) * count
    values = [column.base + int.from_bytes(row, "little") for row in rows]
    return values if column.start is None else list(accumulate(values, initial=column.start))


def _packed(values: Sequence[int], start: int | None = None) -> Column:
    base = min(values, default=0)
    width = (max(values, default=0) - base).bit_length() + 7 >> 3
    rows = b"".join((value - base).to_bytes(width, "little") for value in values)
    return Column(
        count=len(values),
        base=base,
        width=width,
        data=b"".join(rows[plane::width] for plane in range(width)),
        start=start,
    )
