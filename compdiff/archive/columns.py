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
_MAX_WIDTH = 64


class Column(msgspec.Struct, frozen=True, array_like=True):
    """`count` integers: `base` plus what `data` holds in `width` bytes each, or differences from one to the next."""

    count: int
    base: int
    width: int
    differences: bool
    data: bytes


def pack(values: Sequence[int]) -> Column:
    """Return a column of the values, as they are or as differences, whichever compresses better."""
    plain = _packed(values, differences=False)
    steps = [later - earlier for earlier, later in pairwise((0, *values))]
    return min(
        plain,
        _packed(steps, differences=True),
        key=lambda column: len(zlib.compress(column.data)),
    )


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
    return list(accumulate(values)) if column.differences else values


def _packed(values: Sequence[int], *, differences: bool) -> Column:
    base = min(values, default=0)
    width = (max(values, default=0) - base).bit_length() + 7 >> 3
    rows = b"".join((value - base).to_bytes(width, "little") for value in values)
    data = b"".join(rows[plane::width] for plane in range(width))
    return Column(len(values), base, width, differences, data)
