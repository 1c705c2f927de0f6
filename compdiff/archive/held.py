"""Which blobs the runs of an archive need. In: an index. Out: hashes."""

from collections.abc import Callable, Iterable

import msgspec

from compdiff.archive.index import Row
from compdiff.errors import FormatError

_PARTS = msgspec.json.Decoder(list[str])
# Small records are in their rows.
_RECORDS = "SELECT record FROM runs WHERE record_data IS NULL"
_SETTINGS = "SELECT DISTINCT setting FROM runs WHERE setting <> ''"
# The blobs of a shape are needed as long as a run has it.
_SHAPES = "SELECT id, parts FROM shapes WHERE id IN (SELECT shape FROM runs)"


def needed(ask: Callable[[str], Iterable[Row]]) -> set[str]:
    """Return the hashes of all blobs that runs need; `ask` returns the rows of a query.

    Raises:
        FormatError: the index is damaged, so that nobody can tell.
    """
    found = {name for query in (_RECORDS, _SETTINGS) for (name,) in ask(query)}
    for shape, parts in ask(_SHAPES):
        found.add(shape)
        found.update(part_names(shape, parts))
    return found


def part_names(shape: str, parts: str) -> list[str]:
    """Return the hashes of a shape's parts from its row.

    Raises:
        FormatError: they are none.
    """
    try:
        return _PARTS.decode(parts)
    except (msgspec.DecodeError, TypeError) as error:
        raise FormatError(
            f"the index is damaged: its row of shape {str(shape)[:12]!r} names no parts",
            "Restore the index from a copy, or import its runs into a new archive.",
        ) from error
