"""Blobs in a folder. In: bytes. Out: files named by the hash of what they hold, whole or not there at all.

A blob is `ab/cdef...`: the SHA-256 of its content in hexadecimal, two digits as a folder; the file holds the content
compressed by zlib. Nothing else is read or removed, so no name in an archive leads anywhere else.
"""

import os
import re
import stat
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Protocol

import msgspec

from compdiff.archive.split import Blob
from compdiff.errors import CompdiffError, FormatError

_LEVEL = 6
_NAME = re.compile(r"[0-9a-f]{64}")
_TEMPORARY = ".writing-"
# No blob is compressed worse than this: zlib adds 5 bytes a block, and a few around all.
_OVERHEAD = 1024


class StoredFile(msgspec.Struct, frozen=True):
    """A file among the blobs: its hash, or its odd name where it is none; size in bytes; when it was written (seconds)."""

    name: str
    size: int
    written_s: float


class BlobSource(Protocol):
    """Where blobs can be read."""

    def get(self, name: str, limit: int) -> bytes:
        """Return the compressed content of a blob, at most `limit` bytes of it."""


class Blobs(BlobSource, Protocol):
    """Where the blobs of an archive are."""

    def missing(self, hashes: Iterable[str]) -> set[str]:
        """Return which of these blobs are not there."""

    def put(self, name: str, data: bytes) -> None:
        """Store the compressed content of a blob, whole or not at all, so that it outlives a crash of the machine."""

    def remove(self, name: str) -> None:
        """Remove a blob or what a killed writer left; nothing happens if it is gone already."""

    def files(self) -> Iterator[StoredFile]:
        """Yield all blobs, and what killed writers left."""


class MissingBlobError(CompdiffError):
    """A blob that should be there is not."""


class DamagedBlobError(FormatError):
    """A blob does not hold what its name says."""


def compressed(data: bytes) -> bytes:
    """Return the content of a blob as it is stored."""
    return zlib.compress(data, _LEVEL)


def read_blob(blobs: BlobSource, blob: Blob) -> bytes:
    """Return the content of a blob, which is what its name and size say.

    Raises:
        MissingBlobError: it is not there.
        DamagedBlobError: it holds something else; no more of it is decompressed than it should hold.
    """
    if not is_hash(blob.hash) or blob.size < 0:
        raise DamagedBlobError(f"no blob can be called {blob.hash!r}")
    return content(blob, blobs.get(blob.hash, blob.size + blob.size // 1000 + _OVERHEAD))


def content(blob: Blob, raw: bytes) -> bytes:
    """Return what compressed bytes hold, which is what a blob's name and size say.

    Raises:
        DamagedBlobError: they hold something else; no more of it is decompressed than it should hold.
    """
    try:
        inflater = zlib.decompressobj()
        data = inflater.decompress(raw, blob.size + 1)
    except (zlib.error, TypeError, ValueError, OverflowError) as error:
        raise DamagedBlobError(f"blob {blob.hash} is damaged ({error})") from error
    if len(data) != blob.size or not inflater.eof or sha256(data).hexdigest() != blob.hash:
        raise DamagedBlobError(
            f"blob {blob.hash} is damaged: it does not hold what it is named after"
        )
    return data


def is_hash(name: str) -> bool:
    """Return whether a name is that of a blob."""
    return _NAME.fullmatch(name) is not None


class FolderBlobs:
    """Blobs as files in a folder, which need not be there yet."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def missing(self, hashes: Iterable[str]) -> set[str]:
        """Return which of these blobs are no files."""
        return {name for name in hashes if not self._path(name).is_file()}

    def put(self, name: str, data: bytes) -> None:
        """Write a blob beside its place, flush it to the disk, and move it there.

        Raises:
            CompdiffError: naming the file and what the system said; nothing is left behind.
        """
        path = self._path(name)
        try:
            _make_folder(path.parent)
            handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=_TEMPORARY)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(data)
                    file.flush()
                    os.fchmod(file.fileno(), _mode(self._folder))
                    os.fsync(file.fileno())
                Path(temporary).replace(path)
            except BaseException:  # Ctrl-C too must leave nothing behind
                Path(temporary).unlink(missing_ok=True)
                raise
            _flush_folder(path.parent)
        except OSError as error:
            raise CompdiffError(
                f"cannot write {path}: {error.strerror or error}",
                "Check the permissions and the free space of the archive; nothing was added.",
            ) from error

    def get(self, name: str, limit: int) -> bytes:
        """Return at most `limit` bytes of a blob; what is no plain file is not opened for good."""
        path = self._path(name)
        try:
            # A named pipe would wait for ever.
            handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            with os.fdopen(handle, "rb") as file:
                if not stat.S_ISREG(os.fstat(handle).st_mode):
                    raise DamagedBlobError(f"blob {name} is no file")
                return file.read(limit)
        except FileNotFoundError as error:
            raise MissingBlobError(f"blob {name} is missing") from error
        except OSError as error:
            raise CompdiffError(f"cannot read {path}: {error.strerror or error}") from error

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        try:
            self._path(name).unlink(missing_ok=True)
        except OSError as error:
            raise CompdiffError(f"cannot remove {name}: {error.strerror or error}") from error

    def files(self) -> Iterator[StoredFile]:
        """Yield all files of the folders that blobs lie in, in order of their names."""
        for folder in sorted(self._folder.glob("[0-9a-f][0-9a-f]")):
            for path in sorted(folder.iterdir()):
                name = path.name if path.name.startswith(".") else folder.name + path.name
                try:
                    found = path.lstat()
                except FileNotFoundError:  # a writer finished, or another prune was faster
                    continue
                relative = name if is_hash(name) else f"{folder.name}/{path.name}"
                yield StoredFile(relative, found.st_size, found.st_mtime)

    def _path(self, name: str) -> Path:
        if is_hash(name):
            return self._folder / name[:2] / name[2:]
        folder, _, file = name.partition("/")
        if is_leftover(name):
            return self._folder / folder / file
        raise DamagedBlobError(f"no blob can be called {name!r}")


def is_leftover(name: str) -> bool:
    """Return whether a file among the blobs is what a writer was writing when it was killed."""
    return re.fullmatch(r"[0-9a-f]{2}/" + re.escape(_TEMPORARY) + r"\w+", name) is not None


def _make_folder(folder: Path) -> None:
    """Make a folder and those above it, and flush the names of new ones to the disk."""
    if folder.is_dir():
        return
    _make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    _flush_folder(folder.parent)


def _flush_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _mode(folder: Path) -> int:
    """Return the mode of files in a folder: who may write the folder may write them, as on a shared archive."""
    return stat.S_IMODE(folder.stat().st_mode) & 0o666
