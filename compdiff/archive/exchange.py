"""Runs as one file. In: an archive, entries. Out: a zip of their blobs; and the runs of one, added to an archive.

The zip holds `runs.json`, which lists the runs with what the index alone knows of them (time, commit, tags, pin), and
`blobs/HASH`, each once. Nothing is unpacked to a path: blobs are asked for by their hash, and checked; rows are made
anew from the runs.
"""

import os
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path

import msgspec

from compdiff.archive import marks
from compdiff.archive.archive import Archive, run_id_of
from compdiff.archive.blobs import DamagedBlobError, compressed, read_blob
from compdiff.archive.entry import Commit, Entry, Pin, RunId
from compdiff.archive.split import Blob, join, split
from compdiff.archive.texts import utc_text
from compdiff.errors import CompdiffError, FormatError
from compdiff.store import decode_run

EXPORT_SCHEMA = "compdiff.export/1"
_LIST = "runs.json"
_LARGEST_LIST = 256 << 20
# zip files hold a date for each file; this one, so that equal exports are equal files.
_DATE = (1980, 1, 1, 0, 0, 0)
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError)


class Exported(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One run of an export: its id, the blob of its record, and what the run itself does not say."""

    id: str
    record: Blob
    created: str
    commit: Commit
    tags: tuple[str, ...] = ()
    pin: Pin | None = None


class ExportList(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an export holds."""

    schema: str
    runs: tuple[Exported, ...]


def export_runs(archive: Archive, entries: Sequence[Entry], path: Path) -> int:
    """Write runs as one file, whole or not at all, and return how many bytes it has.

    Raises:
        CompdiffError: a run cannot be read, or the file cannot be written.
    """
    with _replaced(path) as temporary, zipfile.ZipFile(temporary, "w") as file:
        listed, written = [], set[str]()
        for entry in entries:
            pieces = split(archive.load_json(entry.id))
            for name in sorted(pieces.contents.keys() - written):
                _write(file, f"blobs/{name}", compressed(pieces.contents[name]))
            written |= pieces.contents.keys()
            listed.append(_exported(entry, pieces.record))
        found = ExportList(schema=EXPORT_SCHEMA, runs=tuple(listed))
        _write(file, _LIST, msgspec.json.encode(found), zipfile.ZIP_DEFLATED)
    return path.stat().st_size


def import_runs(archive: Archive, path: Path) -> Sequence[RunId]:
    """Add all runs of a file, with their tags and pins, and return their ids; those that are there already stay as they are.

    Raises:
        FormatError: it is no export, is damaged, or of a newer compdiff; runs before the damage are added.
        CompdiffError: it cannot be read, or the archive not written.
    """
    try:
        with zipfile.ZipFile(path) as file:
            blobs = _ZipBlobs(file)
            found = _list(blobs, path)
            return [_import(archive, blobs, exported) for exported in found.runs]
    except FileNotFoundError as error:
        raise CompdiffError(f"cannot read {path}: {error.strerror}") from error
    except _BROKEN as error:
        raise FormatError(
            f"{path}: not an export, or damaged ({error})", "Copy it again."
        ) from error


def _import(archive: Archive, blobs: "_ZipBlobs", exported: Exported) -> RunId:
    name = f"run {exported.id[:12]}"
    data = join(exported.record, lambda blob: read_blob(blobs, blob))
    if run_id_of(data) != exported.id:
        raise DamagedBlobError(f"{name}: its pieces make up another run", "Do not use this file.")
    when = utc_text(exported.created)
    run_id = archive.add(
        decode_run(data, name=name),
        when=_time(when) if when else None,
        commit=exported.commit,
    )
    for tag in exported.tags:
        archive.tag(run_id, tag)
    if exported.pin is not None:
        marks.pin(archive.index, run_id, exported.pin)
    return run_id


def _time(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)


def _list(blobs: "_ZipBlobs", path: Path) -> ExportList:
    try:
        found = msgspec.json.decode(blobs.read(_LIST, _LARGEST_LIST), type=ExportList)
    except msgspec.DecodeError as error:
        raise FormatError(
            f"{path}: not an export ({error})", "Give a file that `compdiff archive export` wrote."
        ) from error
    if found.schema != EXPORT_SCHEMA:
        raise FormatError(
            f"{path}: schema {found.schema!r} is not {EXPORT_SCHEMA}", "Upgrade compdiff."
        )
    return found


class _ZipBlobs:
    """The blobs of a zip file, which is only read."""

    def __init__(self, file: zipfile.ZipFile) -> None:
        self._file = file

    def read(self, name: str, limit: int) -> bytes:
        """Return a member of the zip, at most `limit` bytes of it, whatever it says of its size."""
        try:
            with self._file.open(name) as member:
                return member.read(limit)
        except KeyError as error:
            raise FormatError(f"the file has no {name}", "It is no export, or damaged.") from error

    def get(self, name: str, limit: int) -> bytes:
        """Return the compressed content of a blob."""
        return self.read(f"blobs/{name}", limit)


def _exported(entry: Entry, record: Blob) -> Exported:
    return Exported(
        id=entry.id,
        record=record,
        created=entry.created,
        commit=entry.commit,
        tags=entry.tags,
        pin=entry.pin,
    )


def _write(
    file: zipfile.ZipFile, name: str, data: bytes, compression: int = zipfile.ZIP_STORED
) -> None:
    info = zipfile.ZipInfo(name, _DATE)
    info.compress_type = compression
    file.writestr(info, data)


@contextmanager
def _replaced(path: Path) -> Iterator[Path]:
    """Give a file to write that takes the place of `path` at the end, or is gone if there was an error."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
        os.close(handle)
        temporary = Path(name)
        try:
            yield temporary
            with temporary.open("rb") as file:
                os.fsync(file.fileno())
            temporary.chmod(0o644)
            temporary.replace(path)
        except BaseException:  # Ctrl-C too must leave nothing behind
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise CompdiffError(
            f"cannot write {path}: {error.strerror or error}",
            "Check the folder's permissions and free space.",
        ) from error
