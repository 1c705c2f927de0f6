"""Removes old runs, and blobs that no run needs. In: an archive, what to keep. Out: what was removed.

Rows go first, in one transaction, then blobs, a batch at a time under the lock that writers take: none of a batch is
removed that a run needs at that moment, and a writer looks for its blobs again before its row appears.
"""

import time
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from itertools import islice

import msgspec

from compdiff.archive.archive import Archive
from compdiff.archive.blobs import StoredFile, is_hash, is_leftover
from compdiff.archive.entry import Entry, Filter
from compdiff.archive.held import needed
from compdiff.archive.index import Change
from compdiff.archive.texts import utc

GRACE_S = 3600
"""Blobs of no run that are younger than this may be those of a run that is being added: they stay."""
_BATCH = 500


class Pruned(msgspec.Struct, frozen=True):
    """What was removed: entries of runs, newest first; how many blobs and leftovers, and their size in bytes."""

    runs: tuple[Entry, ...]
    blobs: int
    bytes: int


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """Which runs to remove: those that fit `wanted`, are not pinned, and that neither `keep` nor `older_than` spares.

    `keep` spares the newest so many of each case on each device, pinned ones not counted; `older_than` spares what was
    measured later. Without either no run is removed. Blobs that no run needs go with the last run that did, and those
    that no run ever needed when they are older than `grace_s`.
    """

    wanted: Filter = Filter()
    keep: int | None = None
    older_than: timedelta | None = None
    grace_s: int = GRACE_S


def prune(archive: Archive, policy: Policy) -> Pruned:
    """Remove runs, all or none, then the blobs that no run needs.

    Raises:
        CompdiffError: the archive cannot be read or written.
    """
    doomed = doomed_runs(archive, policy)
    before = needed(archive.index.rows)
    if doomed:
        with archive.index.change() as change:
            doomed = tuple(entry for entry in doomed if _remove(change, entry))
            change("DELETE FROM shapes WHERE id NOT IN (SELECT shape FROM runs)")
            change("DELETE FROM environments WHERE id NOT IN (SELECT environment FROM runs)")
    needs = needed(archive.index.rows)
    candidates = (
        file
        for file in unneeded(archive, needs)
        if file.name in before or _is_old(file, policy.grace_s)
    )
    removed = list(_remove_files(archive, candidates))
    return Pruned(doomed, len(removed), sum(file.size for file in removed))


def _is_old(file: StoredFile, grace_s: int) -> bool:
    """Return whether no writer can be at work on a file: one that is half written is never looked for again."""
    longest_s = max(grace_s, GRACE_S) if is_leftover(file.name) else grace_s
    return file.written_s <= time.time() - longest_s


def doomed_runs(archive: Archive, policy: Policy) -> tuple[Entry, ...]:
    """Return the runs that a policy removes, newest first.

    Raises:
        CompdiffError: the archive cannot be read.
    """
    if policy.keep is None and policy.older_than is None:
        return ()
    before = utc(datetime.now(timezone.utc) - policy.older_than) if policy.older_than else None
    seen = Counter[tuple[str, str, str]]()
    found = []
    for entry in archive.find(policy.wanted):
        if entry.pinned:
            continue
        line = (entry.case, entry.device_name, entry.target)
        seen[line] += 1
        is_spared = policy.keep is not None and seen[line] <= policy.keep
        if not is_spared and (before is None or entry.created < before):
            found.append(entry)
    return tuple(found)


def _remove(change: Change, entry: Entry) -> bool:
    """Remove the row of a run, unless somebody pinned it meanwhile."""
    found = {"id": entry.id}
    if not change("SELECT 1 FROM runs WHERE id = :id AND pinned = 0", found):
        return False
    change("DELETE FROM tags WHERE run = :id", found)
    change("DELETE FROM runs WHERE id = :id", found)
    return True


def _remove_files(archive: Archive, files: Iterator[StoredFile]) -> Iterator[StoredFile]:
    """Remove files that no run needs at the moment when they go, and yield them."""
    while batch := list(islice(files, _BATCH)):
        with archive.index.change() as change:
            needs = needed(change)
            for file in batch:
                if file.name not in needs:
                    archive.blobs.remove(file.name)
                    yield file


def unneeded(archive: Archive, needs: set[str]) -> Iterator[StoredFile]:
    """Yield the blobs that are not among `needs`, and what killed writers left."""
    for file in archive.blobs.files():
        if (is_hash(file.name) or is_leftover(file.name)) and file.name not in needs:
            yield file
