"""Trace files of every kind, whole and damaged."""

import gzip
import zipfile
from pathlib import Path

import pytest

from compdiff.errors import FormatError
from compdiff.importers.files import read_trace_file
from tests.importers.traces import event, trace_bytes

DATA = trace_bytes(event("aten::mm", 0, 1))


def test_plain_and_packed(tmp_path: Path) -> None:
    """What a file is called does not matter: gzip is known by its first bytes."""
    (tmp_path / "a.json").write_bytes(DATA)
    (tmp_path / "b.trace").write_bytes(gzip.compress(DATA))
    assert read_trace_file(tmp_path / "a.json").data == DATA
    assert read_trace_file(tmp_path / "b.trace").data == DATA


def test_a_folder_of_ranks(tmp_path: Path) -> None:
    """The first by name is read, the others are named; a part of a name chooses."""
    for rank in range(3):
        (tmp_path / f"rank{rank}.json").write_bytes(DATA + b" " * rank)
    (tmp_path / "notes.txt").write_text("no trace")
    found = read_trace_file(tmp_path)
    assert (found.name, found.others) == ("rank0.json", ("rank1.json", "rank2.json"))
    assert len(read_trace_file(tmp_path, "rank2").data) == len(DATA) + 2


def test_a_zip(tmp_path: Path) -> None:
    """Packed traces in a zip are read too."""
    path = tmp_path / "all.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("run/rank0.json.gz", gzip.compress(DATA))
    assert read_trace_file(path).data == DATA


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("cut.json.gz", gzip.compress(DATA)[:-9], "truncated gzip"),
        ("bad.zip", b"PK\x03\x04 not a zip", ""),
    ],
)
def test_damaged_files_are_refused(tmp_path: Path, name: str, data: bytes, words: str) -> None:
    """The message says which file and what is wrong."""
    path = tmp_path / name
    path.write_bytes(data)
    if not words:
        assert read_trace_file(path).data == data  # no zip: the decoder will refuse it
        return
    with pytest.raises(FormatError, match=words) as caught:
        read_trace_file(path)
    assert name in caught.value.message


def test_nothing_to_read(tmp_path: Path) -> None:
    """A folder without traces and a path without a file say so."""
    with pytest.raises(FormatError, match="no trace"):
        read_trace_file(tmp_path)
    with pytest.raises(FormatError, match="No such file"):
        read_trace_file(tmp_path / "gone.json")
    (tmp_path / "rank0.json").write_bytes(DATA)
    with pytest.raises(FormatError, match="rank0") as caught:
        read_trace_file(tmp_path, "rank7")
    assert "rank7" in caught.value.message
