"""Saved runs: round trips, refusals, and files that are whole or absent."""

import errno
import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compdiff import store
from compdiff.errors import CompdiffError, FormatError
from compdiff.model import OpCall, Run, SourceLocation
from compdiff.store import decode_run, encode_run, read_run, write_atomic, write_run
from tests.capture.stand_ins import empty_run
from tests.strategies import runs

SMALL = empty_run("case", OpCall(id=0, name="aten::mm"))


@given(runs())
@settings(max_examples=50, deadline=None)
def test_round_trip(run: Run) -> None:
    """A run comes back equal, and encodes to the same bytes again."""
    data = encode_run(run)
    assert decode_run(data, name="x") == run
    assert encode_run(decode_run(data, name="x")) == data


@given(st.text(), st.text())
def test_any_text_survives(name: str, line: str) -> None:
    """Names and source lines from outside come back as they were, control characters included."""
    source = SourceLocation(file="f.py", line=1, text=line)
    run = empty_run("case", OpCall(id=0, name=name, source=source))
    assert decode_run(encode_run(run), name="x") == run


@given(st.binary(max_size=200))
def test_bytes_never_crash_the_reader(data: bytes) -> None:
    """Whatever the bytes are, they are refused with a FormatError."""
    with pytest.raises(FormatError):
        decode_run(data, name="x")


@pytest.mark.parametrize("name", ["run.json.gz", "run.json"])
def test_file_round_trip(tmp_path: Path, name: str) -> None:
    """Gzipped and plain files read back."""
    write_run(SMALL, tmp_path / name)
    assert read_run(tmp_path / name) == SMALL


def test_content_decides_not_the_name(tmp_path: Path) -> None:
    """A gzipped file that was renamed still reads."""
    write_run(SMALL, tmp_path / "run.json.gz")
    (tmp_path / "run.json.gz").rename(tmp_path / "run.json")
    assert read_run(tmp_path / "run.json") == SMALL


def test_files_are_canonical(tmp_path: Path) -> None:
    """Writing twice gives equal bytes: no clock, no file name in the gzip header."""
    write_run(SMALL, tmp_path / "a.gz")
    write_run(SMALL, tmp_path / "b.gz")
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


def test_the_schema_stands_first() -> None:
    """A file says what it is before anything else."""
    assert encode_run(SMALL).startswith(b'{"schema":"compdiff.run/1",')


def changed(**fields: object) -> bytes:
    """Return the small run's JSON with top-level fields replaced."""
    return json.dumps(json.loads(encode_run(SMALL)) | fields).encode()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (changed(schema="compdiff.run/2"), r"f\.json: schema compdiff\.run/2 is newer"),
        (changed(schema="compdiff.diff/1"), r"f\.json: schema 'compdiff\.diff/1' is not"),
        (changed(schema=1), r"f\.json: not a compdiff run \(schema: Expected `str`, got `int`"),
        (b"[]", r"f\.json: not a compdiff run"),
        (b'{"traceEvents": []}', r"f\.json: not a compdiff run"),
        (b"\x80abc", r"f\.json: not JSON"),
        (b"", r"f\.json: not JSON"),
        (encode_run(SMALL)[:100], r"f\.json: not JSON, or cut short"),
        (changed(created=1), r"f\.json: .* created: Expected `str`, got `int`"),
        (changed(left={"label": 3}), r"f\.json: .* left\.label: Expected `str`, got `int`"),
        (changed(surprise=1), r"f\.json: .*unknown field `surprise`"),
    ],
)
def test_refusals_name_file_and_place(data: bytes, words: str) -> None:
    """What is no run of this version is refused with what is wrong and where."""
    with pytest.raises(FormatError, match=words):
        decode_run(data, name="f.json")


def test_newer_schema_says_upgrade() -> None:
    """The hint for a newer file is to upgrade."""
    with pytest.raises(FormatError) as caught:
        decode_run(changed(schema="compdiff.run/12"), name="f.json")
    assert caught.value.hint == "Upgrade compdiff."


def cut(data: bytes) -> bytes:
    """Return gzip data that ends early."""
    return data[: len(data) // 2]


def bent(data: bytes) -> bytes:
    """Return gzip data with a wrong checksum."""
    return data[:-8] + b"\0" * 8


@pytest.mark.parametrize(("damage", "words"), [(cut, "ends early"), (bent, "damaged gzip")])
def test_damaged_gzip(tmp_path: Path, damage: Callable[[bytes], bytes], words: str) -> None:
    """A damaged file is refused by name."""
    path = tmp_path / "run.json.gz"
    path.write_bytes(damage(gzip.compress(encode_run(SMALL))))
    with pytest.raises(FormatError, match=rf"run\.json\.gz: .*{words}"):
        read_run(path)


def test_gzip_bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Data that decompresses beyond the limit is refused, not held."""
    monkeypatch.setattr(store, "MAX_RUN_BYTES", 1 << 20)
    path = tmp_path / "run.json.gz"
    path.write_bytes(gzip.compress(b" " * (64 << 20)))
    with pytest.raises(FormatError, match="holds more than 1 MiB"):
        read_run(path)


def test_absent_file(tmp_path: Path) -> None:
    """A file that is not there is an error with its name."""
    with pytest.raises(CompdiffError, match=r"cannot read .*absent: No such file"):
        read_run(tmp_path / "absent")


def test_write_atomic_replaces(tmp_path: Path) -> None:
    """The new content replaces the old, with the usual permissions, and nothing else is left."""
    path = tmp_path / "new" / "f"
    write_atomic(path, b"old")
    write_atomic(path, b"new")
    assert path.read_bytes() == b"new"
    assert [one.name for one in path.parent.iterdir()] == ["f"]
    plain = path.with_name("plain")
    plain.touch()
    assert path.stat().st_mode == plain.stat().st_mode


@pytest.mark.parametrize("failure", [OSError(errno.ENOSPC, "No space left"), KeyboardInterrupt()])
def test_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: BaseException
) -> None:
    """A full disk or Ctrl-C leaves the old content and no temporary file."""
    path = tmp_path / "f"
    write_atomic(path, b"old")

    def fail(_: int) -> None:
        raise failure

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises((CompdiffError, KeyboardInterrupt)):
        write_atomic(path, b"new")
    assert path.read_bytes() == b"old"
    assert [one.name for one in tmp_path.iterdir()] == ["f"]


def test_folder_that_is_a_file(tmp_path: Path) -> None:
    """A path through a file is a CompdiffError that says so."""
    (tmp_path / "file").touch()
    with pytest.raises(CompdiffError, match=r"cannot write .*file/f"):
        write_atomic(tmp_path / "file" / "f", b"")
