"""The archive. In: a location. Out: runs kept, found, loaded, named.

What is written first is what nobody sees yet: blobs, each whole or not there. The row of a run, with its record if
that is small, comes last, in a transaction that no other writer runs beside and in which all its blobs are there. So a
writer that is killed leaves blobs that no run refers to, and nothing else; `prune` removes them, under the same lock.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from itertools import islice

import msgspec

from compdiff.archive import marks, select
from compdiff.archive.blobs import (
    Blobs,
    DamagedBlobError,
    MissingBlobError,
    compressed,
    content,
    read_blob,
)
from compdiff.archive.entry import Commit, Entry, Filter, Pin, RunId
from compdiff.archive.index import Change, Index, Value
from compdiff.archive.location import create_location, open_location
from compdiff.archive.references import resolve
from compdiff.archive.rows import SELECT, make_entry
from compdiff.archive.split import Blob, Pieces, join, split
from compdiff.errors import CompdiffError, FormatError
from compdiff.model import Run
from compdiff.store import decode_run, encode_run

ID_LENGTH = 32
# A file takes a block of 4 KiB however small it is; rows are read one after the other, so large ones would slow `list`.
_LARGEST_IN_ROW = 4096


class Archive:
    """Runs in a folder, or in a database and a store of objects. Use it in `contextlib.closing`."""

    def __init__(self, index: Index, blobs: Blobs) -> None:
        self.index = index
        self.blobs = blobs

    @classmethod
    def open(cls, location: str) -> "Archive":
        """Return the archive at a folder or URL, which must be there.

        Raises:
            CompdiffError: there is none, it cannot be read, or it is of another version.
        """
        return cls(*open_location(location))

    @classmethod
    def create(cls, location: str, *, blobs: str = "") -> "Archive":
        """Return the archive at a folder or URL, made if it is not there, brought up to date if it is older.

        `blobs` is the folder or URL of the blobs of a new archive whose index is a database.

        Raises:
            CompdiffError: it cannot be made, or there is a newer one.
        """
        index, found, _ = create_location(location, blobs)
        return cls(index, found)

    def close(self) -> None:
        """Let go of the index."""
        self.index.close()

    # ------------------------------------------------------------ writing

    def add(self, run: Run, *, when: datetime | None = None, commit: Commit | None = None) -> RunId:
        """Keep a run and return its id, once it is there to stay. Adding it again changes nothing.

        `when` and `commit` are what the index says of it in place of what the run says of itself: when it was measured,
        in the local zone if it names none, and the state of the repository it is of.

        Raises:
            CompdiffError: it cannot be written, or is no run that can be kept; then nothing is there.
        """
        from compdiff.archive.summarise import make_row  # noqa: PLC0415 - reading needs no analysis

        data = encode_run(run)
        pieces = split(data)
        run_id = run_id_of(data)
        row = make_row(run, when=when, commit=commit)
        columns = {
            **row.run,
            "id": run_id,
            "bytes": len(data),
            "shape": pieces.shape.hash,
            "record": pieces.record.hash,
            "record_size": pieces.record.size,
            "record_data": _small_record(pieces),
            "setting": pieces.setting.hash,
        }
        self._store(pieces, columns, row.environment)
        return run_id

    def _store(
        self, pieces: Pieces, columns: Mapping[str, Value], environment: Mapping[str, Value]
    ) -> None:
        """Write the blobs of a run that are not there, then its row; nothing changes where the row is there and sound."""
        contents = dict(pieces.contents)
        if columns["record_data"] is not None:
            del contents[pieces.record.hash]
        self._put_missing(contents)
        with self.index.change() as change:
            # Another process may have pruned since. Now it cannot, before the row is there.
            self._put_missing(contents)
            _insert(change, "shapes", _shape_row(pieces))
            _insert(change, "environments", environment)
            _insert(change, "runs", columns)

    def tag(self, run_id: RunId, name: str) -> None:
        """Give a run a tag, a name that references may use; several runs may have one, of one case the newest is meant.

        Raises:
            CompdiffError: the name can be no tag, or the run is not there.
        """
        marks.tag(self.index, run_id, name)

    def untag(self, run_id: RunId, name: str) -> None:
        """Take a tag from a run.

        Raises:
            CompdiffError: it does not have it.
        """
        marks.untag(self.index, run_id, name)

    def pin(self, run_id: RunId, *, by: str = "", why: str = "") -> None:
        """Keep a run for good, as one to compare with; `by` and `why` say who wants so and for what reason.

        Raises:
            CompdiffError: the run is not there.
        """
        marks.pin(self.index, run_id, Pin(by=by, why=why))

    def unpin(self, run_id: RunId) -> None:
        """Take the pin from a run.

        Raises:
            CompdiffError: the run is not there.
        """
        marks.unpin(self.index, run_id)

    def _put_missing(self, contents: Mapping[str, bytes]) -> None:
        for name in sorted(self.blobs.missing(contents)):
            self.blobs.put(name, compressed(contents[name]))

    # ------------------------------------------------------------ reading

    def find(self, wanted: Filter = Filter()) -> Sequence[Entry]:  # noqa: B008 - frozen
        """Return the entries that fit a filter, newest first.

        Raises:
            CompdiffError: the index cannot be read, or the filter asks for what cannot be.
        """
        fits = select.predicate(wanted)
        clause, values = select.where(wanted)
        limit = "" if fits or wanted.limit is None else f" LIMIT {int(wanted.limit)}"
        rows = self.index.rows(f"{SELECT}{clause}{select.NEWEST_FIRST}{limit}", values)
        tags = self.tags()
        found = islice(filter(fits, rows) if fits else rows, wanted.limit)
        return tuple(make_entry(row, tags.get(row[0], ())) for row in found)

    def tags(self) -> Mapping[RunId, Sequence[str]]:
        """Return the tags of all runs that have any, in order."""
        found = defaultdict[RunId, list[str]](list)
        for run, name in self.index.rows("SELECT run, name FROM tags ORDER BY name"):
            found[RunId(run)].append(name)
        return found

    def resolve(self, reference: str) -> Entry:
        """Return the one run that a reference means: an id, `latest`, `pinned`, a tag or a commit, each with `:CASE` or not.

        Raises:
            CompdiffError: it means none, or cannot tell which of several.
        """
        return resolve(self.find, reference)

    def load(self, run_id: RunId) -> Run:
        """Return a run, the same as was added.

        Raises:
            CompdiffError: it is not there, or its blobs cannot be read.
            FormatError: they are damaged, or of a newer compdiff.
        """
        return decode_run(self.load_json(run_id), name=f"run {run_id[:12]}")

    def load_json(self, run_id: RunId) -> bytes:
        """Return the canonical JSON of a run, whose hash is its id.

        Raises:
            CompdiffError: as `load`.
        """
        query = "SELECT record, record_size, record_data FROM runs WHERE id = :id"
        row = next(iter(self.index.rows(query, {"id": run_id})), None)
        if row is None:
            raise CompdiffError(f"no run {run_id} in the archive")
        record = Blob(*row[:2])

        def read(blob: Blob) -> bytes:
            in_row = blob == record and row[2] is not None
            return content(blob, row[2]) if in_row else read_blob(self.blobs, blob)

        try:
            data = join(record, read)
        except (FormatError, MissingBlobError) as error:
            hint = "`compdiff archive verify` names all that is damaged; adding the run again repairs it."
            raise type(error)(f"run {run_id[:12]}: {error.message}", error.hint or hint) from error
        if run_id_of(data) != run_id:
            raise DamagedBlobError(
                f"run {run_id[:12]} is damaged: its pieces make up another run",
                "Remove it, and add it again.",
            )
        return data


def run_id_of(data: bytes) -> RunId:
    """Return the id of a run from its canonical JSON."""
    return RunId(sha256(data).hexdigest()[:ID_LENGTH])


def _small_record(pieces: Pieces) -> bytes | None:
    """Return the record as its row holds it; None for one that is so large that it is a blob of its own."""
    data = compressed(pieces.contents[pieces.record.hash])
    return data if len(data) <= _LARGEST_IN_ROW else None


def _shape_row(pieces: Pieces) -> dict[str, Value]:
    parts = msgspec.json.encode([part.hash for part in pieces.parts]).decode()
    return {"id": pieces.shape.hash, "size": pieces.shape.size, "parts": parts}


def _insert(change: Change, table: str, columns: Mapping[str, Value]) -> None:
    names: Iterable[str] = list(columns)
    change(
        f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join(f':{n}' for n in names)}) "  # noqa: S608 - our names
        "ON CONFLICT (id) DO NOTHING",
        columns,
    )
