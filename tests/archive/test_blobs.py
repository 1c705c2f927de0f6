"""Blobs are whole, or not there, or an error that says so."""

import os
import zlib
from hashlib import sha256
from pathlib import Path

import pytest

from compdiff.archive.blobs import (
    DamagedBlobError,
    FolderBlobs,
    MissingBlobError,
    compressed,
    read_blob,
)
from compdiff.archive.split import Blob
from compdiff.errors import CompdiffError

CONTENT = b"what a graph may be" * 50
BLOB = Blob(sha256(CONTENT).hexdigest(), len(CONTENT))


@pytest.fixture(name="blobs")
def _blobs(tmp_path: Path) -> FolderBlobs:
    return FolderBlobs(tmp_path)


def file_of(folder: Path) -> Path:
    """Return where the blob lies."""
    return folder / BLOB.hash[:2] / BLOB.hash[2:]


def put(folder: Path, data: bytes) -> None:
    """Put any bytes in the place of the blob."""
    file_of(folder).parent.mkdir(exist_ok=True)
    file_of(folder).write_bytes(data)


def test_a_blob_comes_back(blobs: FolderBlobs) -> None:
    """What was put is there, under its hash, and nothing else is."""
    blobs.put(BLOB.hash, compressed(CONTENT))

    assert read_blob(blobs, BLOB) == CONTENT
    assert [file.name for file in blobs.files()] == [BLOB.hash]
    assert blobs.missing([BLOB.hash, "f" * 64]) == {"f" * 64}


def test_removing_twice_is_fine(blobs: FolderBlobs) -> None:
    """Two processes may prune at once."""
    blobs.put(BLOB.hash, b"x")

    blobs.remove(BLOB.hash)
    blobs.remove(BLOB.hash)

    assert list(blobs.files()) == []


def test_a_missing_blob(blobs: FolderBlobs) -> None:
    """A blob that is gone has an error of its own."""
    with pytest.raises(MissingBlobError, match="missing"):
        read_blob(blobs, BLOB)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no zlib",
        compressed(CONTENT)[:-3],
        compressed(CONTENT + b"!"),
        compressed(CONTENT[:-1] + b"!"),
        compressed(CONTENT[:-1]),
    ],
)
def test_a_damaged_blob(blobs: FolderBlobs, tmp_path: Path, data: bytes) -> None:
    """Cut short, changed, longer or empty: it is never taken for what it is named after."""
    put(tmp_path, data)

    with pytest.raises(DamagedBlobError, match="damaged"):
        read_blob(blobs, BLOB)


def test_a_bomb_is_not_unpacked(blobs: FolderBlobs, tmp_path: Path) -> None:
    """A blob that would become a gigabyte is refused after one byte more than it should hold."""
    put(tmp_path, zlib.compress(bytes(1 << 30), 9))

    with pytest.raises(DamagedBlobError):
        read_blob(blobs, BLOB)


@pytest.mark.parametrize(
    "name",
    ["../../etc/passwd", "/etc/passwd", "", "ab", "A" * 64, f"{'a' * 63}/", "aa/.writing-/../x"],
)
def test_no_name_leads_elsewhere(blobs: FolderBlobs, name: str) -> None:
    """Only 64 hexadecimal digits name a blob."""
    with pytest.raises(DamagedBlobError, match="called"):
        read_blob(blobs, Blob(name, 1))
    with pytest.raises(DamagedBlobError, match="called"):
        blobs.remove(name)


def test_a_pipe_is_not_waited_for(blobs: FolderBlobs, tmp_path: Path) -> None:
    """A named pipe in the place of a blob is an error at once."""
    file_of(tmp_path).parent.mkdir()
    os.mkfifo(file_of(tmp_path))

    with pytest.raises(DamagedBlobError, match="no file"):
        read_blob(blobs, BLOB)


def test_a_failed_write_leaves_nothing(blobs: FolderBlobs, tmp_path: Path) -> None:
    """Where a folder cannot be made the error names it."""
    (tmp_path / BLOB.hash[:2]).write_text("in the way")

    with pytest.raises(CompdiffError, match="cannot write"):
        blobs.put(BLOB.hash, b"x")

    assert (tmp_path / BLOB.hash[:2]).read_text() == "in the way"
