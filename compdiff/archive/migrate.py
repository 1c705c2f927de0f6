"""The version of an index. In: an index. Out: the same brought up to date, or an error that says what to do."""

import re
from collections.abc import Mapping

from compdiff.archive.index import Index
from compdiff.archive.schema import CREATE_FACTS, FACTS_TABLE, STEPS, VERSION
from compdiff.errors import CompdiffError, FormatError

_VERSION = re.compile(r"[1-9][0-9]{0,8}", re.ASCII)


def version(index: Index) -> int | None:
    """Return the version of an index; None where no archive was made yet.

    Raises:
        FormatError: it says something that is no version.
    """
    if FACTS_TABLE not in index.tables():
        return None
    text = fact(index, "schema")
    if not _VERSION.fullmatch(text):
        raise FormatError(f"{index.name}: its version {text!r} is none", "The index is damaged.")
    return int(text)


def fact(index: Index, name: str) -> str:
    """Return what an index says of itself; "" where it says nothing."""
    rows = index.rows("SELECT value FROM archive WHERE name = :name", {"name": name})
    return next((str(value) for (value,) in rows), "")


def check(index: Index) -> None:
    """Refuse an index that this version does not read.

    Raises:
        CompdiffError: it is no archive, older, or newer.
    """
    found = version(index)
    if found is None:
        raise CompdiffError(
            f"{index.name} holds no archive", "Make one with `compdiff archive init`."
        )
    _refuse_newer(index, found)
    if found < VERSION:
        raise CompdiffError(
            f"{index.name}: the archive has version {found}; this compdiff reads {VERSION}",
            "Run `compdiff archive init` on it: that brings it up to date and keeps all runs. "
            "Older versions of compdiff cannot read it afterwards.",
        )


def upgrade(index: Index, facts: Mapping[str, str]) -> int | None:
    """Make an archive, or take the steps that it lacks, in one transaction; return the version it had.

    `facts` is what a new one says of itself.

    Raises:
        CompdiffError: it is newer, or cannot be written.
    """
    before = version(index)
    if before is not None:
        _refuse_newer(index, before)
    if before == VERSION:
        return before
    with index.change() as change:
        before = version(index)  # another process may have been faster
        if before is None:
            change(CREATE_FACTS)
            for name, value in {**facts, "schema": "0"}.items():
                change("INSERT INTO archive VALUES (:name, :value)", {"name": name, "value": value})
        for step in STEPS[before or 0 :]:
            for statement in step:
                change(statement)
        change("UPDATE archive SET value = :value WHERE name = 'schema'", {"value": str(VERSION)})
    return before


def _refuse_newer(index: Index, found: int) -> None:
    if found > VERSION:
        raise CompdiffError(
            f"{index.name}: the archive has version {found}, newer than this compdiff, which reads {VERSION}",
            "Upgrade compdiff.",
        )
