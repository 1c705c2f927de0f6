"""The index: rows, and changes that are whole or did not happen, in SQLite and in PostgreSQL."""

import sqlite3
from contextlib import closing
from pathlib import Path
from threading import Event, Thread

import pytest

from compdiff.archive import Archive
from compdiff.archive.index import SqliteIndex, UrlIndex, without_password
from compdiff.archive.location import INDEX_FILE
from compdiff.errors import CompdiffError

_INSERT = "INSERT INTO shapes (id, size, parts) VALUES (:id, :size, :parts)"
_COUNT = "SELECT COUNT(*) FROM shapes"


def values(name: str) -> dict[str, str | int | None]:
    """Return the columns of a row."""
    return {"id": name, "size": 1, "parts": "[]"}


def test_a_change_is_committed(archive: Archive, place: str) -> None:
    """What was changed is there for whoever opens the index next."""
    with archive.index.change() as change:
        assert change(_INSERT, values("a")) == []
        assert change("SELECT id, size FROM shapes") == [("a", 1)]

    with closing(Archive.open(place)) as other:
        assert other.index.rows("SELECT id, size FROM shapes") == [("a", 1)]


def test_an_error_undoes_a_change(archive: Archive) -> None:
    """Nothing of a transaction stays that ended in an error, and the next one works."""

    def fail() -> None:
        with archive.index.change() as change:
            change(_INSERT, values("a"))
            raise KeyError

    with pytest.raises(KeyError):
        fail()

    assert archive.index.rows(_COUNT) == [(0,)]
    with archive.index.change() as change:
        change(_INSERT, values("b"))
    assert archive.index.rows(_COUNT) == [(1,)]


def test_nobody_sees_half_a_change(archive: Archive, place: str) -> None:
    """Until it is committed others see what was there before."""
    with closing(Archive.open(place)) as other, archive.index.change() as change:
        change(_INSERT, values("a"))
        assert other.index.rows(_COUNT) == [(0,)]


def test_writers_wait_for_each_other(archive: Archive, place: str) -> None:
    """A second writer starts when the first has ended."""
    order, started = [], Event()

    def second() -> None:
        with closing(Archive.open(place)) as other:
            started.set()
            with other.index.change() as change:
                order.append(change(_COUNT))

    with archive.index.change() as change:
        writer = Thread(target=second)
        writer.start()
        assert started.wait(30)
        change(_INSERT, values("a"))
        order.append([])
    writer.join(60)

    assert order == [[], [(1,)]]


def test_bad_sql_is_a_compdiff_error(archive: Archive) -> None:
    """Whatever a database says becomes one kind of error, which names the index."""
    with pytest.raises(CompdiffError, match="cannot read"):
        archive.index.rows("SELECT nothing FROM nowhere")
    with pytest.raises(CompdiffError, match="cannot write"), archive.index.change() as change:
        change(_INSERT, {**values("a"), "size": None})


def test_the_tables_are_those_of_the_archive(archive: Archive) -> None:
    """Tables of others are not counted; a sound index finds no damage."""
    assert archive.index.tables() >= {"archive", "shapes", "environments", "runs", "tags"}
    assert archive.index.damage() == []


@pytest.mark.parametrize("content", [b"", b"hello, I am a text file", b"SQLite format 4\0"])
def test_what_is_no_sqlite_file_is_refused(tmp_path: Path, content: bytes) -> None:
    """It is refused before SQLite sees it, and stays as it is."""
    path = tmp_path / INDEX_FILE
    path.write_bytes(content)

    with pytest.raises(CompdiffError):
        SqliteIndex(path)
    assert path.read_bytes() == content


def test_a_busy_index_says_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who waits for too long is told that others write."""
    monkeypatch.setattr("compdiff.archive.index.WAIT_S", 0.05)
    with (
        closing(sqlite3.connect(folder / INDEX_FILE, isolation_level=None)) as other,
        closing(SqliteIndex(folder / INDEX_FILE)) as index,
    ):
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(CompdiffError, match="cannot write") as caught, index.change():
            pass
    assert "Other writers" in caught.value.hint


def test_a_database_that_is_not_there(postgres_url: str) -> None:
    """The message names the place without its password."""
    url = postgres_url.replace("@/postgres?", ":secret@/none?")
    with closing(UrlIndex(url)) as index, pytest.raises(CompdiffError, match="none") as caught:
        index.rows("SELECT 1")
    assert "secret" not in str(caught.value)


def test_tables_of_others_in_a_database(database: str) -> None:
    """Only what an archive has is counted."""
    with closing(UrlIndex(database)) as index:
        with index.change() as change:
            change("CREATE TABLE tags (x TEXT)")
            change("CREATE TABLE mine (x TEXT)")
        assert index.tables() == {"tags"}


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("postgresql://me:secret@host/d", "postgresql://me:***@host/d"),
        ("postgresql://me:sec@ret@host/d", "postgresql://me:***@host/d"),
        ("postgresql://me@host/d", "postgresql://me@host/d"),
        ("postgresql://host:5432/d", "postgresql://host:5432/d"),
    ],
)
def test_messages_have_no_password(url: str, expected: str) -> None:
    """The user stays, the password does not."""
    assert without_password(url) == expected
