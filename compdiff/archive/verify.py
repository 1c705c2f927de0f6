"""Proves an archive, or names what is damaged. In: an archive. Out: a Verdict.

Each run is put together from its blobs and its hash compared with its id; its row is compared with what the run says.
A run that another process removed meanwhile is not reported.
"""

import time
from collections.abc import Iterator
from itertools import groupby

import msgspec

from compdiff.archive.archive import Archive, run_id_of
from compdiff.archive.blobs import StoredFile, content, is_hash, is_leftover, read_blob
from compdiff.archive.entry import RunId
from compdiff.archive.held import needed, part_names
from compdiff.archive.prune import unneeded
from compdiff.archive.split import Blob, decode_record, decode_shape, join, named_by
from compdiff.archive.summarise import facts_of
from compdiff.errors import CompdiffError
from compdiff.model import Run
from compdiff.store import decode_run

_RUNS = "SELECT id, record, record_size, record_data, setting, shape FROM runs ORDER BY shape, id"
ORPHAN_GRACE_S = 24 * 3600
"""Blobs of no run that are younger are of a writer that works or was killed: no damage, and `prune` removes them."""


class Damage(msgspec.Struct, frozen=True):
    """Something wrong: `what` (a run, a blob, the index), its `name`, and `text`, a sentence about it."""

    what: str
    name: str
    text: str


class Verdict(msgspec.Struct, frozen=True):
    """What was looked at, and what is damaged.

    `leftovers` counts blobs of no run that are no damage: of writers at work, or of killed ones; `leftover_bytes` is
    their size.
    """

    runs: int
    blobs: int
    bytes: int
    leftovers: int
    leftover_bytes: int
    damage: tuple[Damage, ...]

    @property
    def is_sound(self) -> bool:
        """Whether nothing is damaged."""
        return not self.damage


class _Stored(msgspec.Struct, frozen=True):
    run: RunId
    record: Blob
    data: bytes | None
    setting: str
    shape: str


def verify(archive: Archive) -> Verdict:
    """Return whether all of an archive is as it was written.

    Raises:
        CompdiffError: it cannot be read at all.
    """
    damage = [Damage("index", "", text) for text in archive.index.damage()]
    # All at once: a query that is open keeps writers of a folder waiting.
    stored = [
        _Stored(RunId(run), Blob(record, size), *others)
        for run, record, size, *others in archive.index.rows(_RUNS)
    ]
    shapes = archive.index.rows("SELECT id, parts FROM shapes")
    parts: dict[str, str] = {shape: text for shape, text in shapes}  # noqa: C416 - typed so
    for shape, runs in groupby(stored, key=lambda item: item.shape):
        checked = _OfOneShape(archive, parts.get(shape, ""))
        damage += (found for run in runs for found in checked.damage(run))
    old, young = _leftovers(archive)
    files = list(archive.blobs.files())
    damage += (Damage("blob", file.name, "no run refers to it") for file in old)
    damage += (
        Damage("file", file.name, "it is among the blobs and is none")
        for file in files
        if not (is_hash(file.name) or is_leftover(file.name))
    )
    return Verdict(
        runs=len(stored),
        blobs=len(files),
        bytes=sum(file.size for file in files),
        leftovers=len(young),
        leftover_bytes=sum(file.size for file in young),
        damage=tuple(damage),
    )


class _OfOneShape:
    """Checks runs of one shape, whose blobs are read once."""

    def __init__(self, archive: Archive, parts: str) -> None:
        self._archive = archive
        self._parts = parts
        self._read: dict[str, bytes | CompdiffError] = {}

    def damage(self, stored: _Stored) -> Iterator[Damage]:
        """Yield what is wrong with a run, if it is there still."""
        found = [Damage("run", stored.run[:12], text) for text in self._sentences(stored)]
        self._read.pop(stored.record.hash, None)
        query = "SELECT 1 FROM runs WHERE id = :id"
        if found and any(self._archive.index.rows(query, {"id": stored.run})):
            yield from found

    def _sentences(self, stored: _Stored) -> list[str]:
        try:
            if stored.data is not None:
                self._read[stored.record.hash] = content(stored.record, stored.data)
            data = join(stored.record, self._content)
            if run_id_of(data) != stored.run:
                return ["its pieces make up another run"]
            run = decode_run(data, name="the run")
            return [*self._wrong_parts(stored), *self._wrong_columns(stored, run)]
        except CompdiffError as error:
            return [error.message]

    def _content(self, blob: Blob) -> bytes:
        if blob.hash not in self._read:
            try:
                self._read[blob.hash] = read_blob(self._archive.blobs, blob)
            except CompdiffError as error:
                self._read[blob.hash] = error
        found = self._read[blob.hash]
        if isinstance(found, CompdiffError):
            raise found
        return found

    def _wrong_parts(self, stored: _Stored) -> Iterator[str]:
        record = decode_record(self._content(stored.record))
        listed = {stored.shape, stored.setting, *part_names(stored.shape, self._parts)}
        parts = (part.blob for part in decode_shape(self._content(record.shape)).parts)
        true = {blob.hash for blob in (*named_by(record), *parts)}
        if listed - {""} != true:
            # Whatever the index does not list, `prune` would remove.
            yield "the index does not list the blobs that it is made of"

    def _wrong_columns(self, stored: _Stored, run: Run) -> Iterator[str]:
        true = facts_of(run)
        query = (
            f"SELECT {', '.join(true)} FROM runs "  # noqa: S608 - our own names
            "JOIN environments ON environments.id = runs.environment WHERE runs.id = :id"
        )
        rows = list(self._archive.index.rows(query, {"id": stored.run}))
        if not rows:
            yield "the index has no environment for it"
        for row in rows:
            for (name, value), said in zip(true.items(), row, strict=True):
                if said != value:
                    yield f"the index says that its {name} is {said!r}, and it is {value!r}"


def _leftovers(archive: Archive) -> tuple[list[StoredFile], list[StoredFile]]:
    """Return blobs of no run: those so old that no writer is at work on them, and the others."""
    try:
        needs = needed(archive.index.rows)
    except CompdiffError:  # its damage was named
        return [], []
    found = list(unneeded(archive, needs))
    before_s = time.time() - ORPHAN_GRACE_S
    old = [file for file in found if file.written_s < before_s]
    return old, [file for file in found if file.written_s >= before_s]
