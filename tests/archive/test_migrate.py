"""An archive of an older version: made by compdiff when version 1 was the newest, and kept in tests/data."""

import shutil
from contextlib import closing
from pathlib import Path

import pytest

from compdiff.archive import Archive
from compdiff.archive.index import SqliteIndex
from compdiff.archive.migrate import fact, version
from compdiff.archive.schema import INDEXES, STEPS, TABLES, VERSION
from compdiff.archive.verify import verify
from compdiff.errors import CompdiffError

OLD = Path(__file__).parents[1] / "data" / "archive_version_1"


@pytest.fixture(name="old")
def _old(tmp_path: Path) -> Path:
    return Path(shutil.copytree(OLD, tmp_path / "old"))


def test_an_older_archive_says_what_to_do(old: Path) -> None:
    """Opening changes nothing in it."""
    before = (old / "index.sqlite").read_bytes()

    with pytest.raises(CompdiffError, match="has version 1") as caught:
        Archive.open(str(old))

    assert "archive init" in caught.value.hint
    assert (old / "index.sqlite").read_bytes() == before


def test_an_older_archive_is_brought_up_to_date(old: Path) -> None:
    """All runs, tags and pins are there as before, and what is new is empty."""
    with closing(Archive.create(str(old))) as archive:
        assert version(archive.index) == VERSION
        newest, oldest = archive.find()
        assert (newest.pinned, newest.tags) == (True, ())
        assert newest.pin is not None
        assert newest.pin.why == ""
        assert (oldest.pinned, oldest.tags) == (False, ("good",))
        assert verify(archive).is_sound


def test_a_step_that_fails_changes_nothing(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All steps are one transaction."""
    monkeypatch.setattr("compdiff.archive.migrate.STEPS", (*STEPS, ("NO SQL",)))
    monkeypatch.setattr("compdiff.archive.migrate.VERSION", VERSION + 1)

    with pytest.raises(CompdiffError, match="syntax error"):
        Archive.create(str(old))

    with closing(SqliteIndex(old / "index.sqlite")) as index:
        assert fact(index, "schema") == "1"
        assert "pinned_by" not in {row[1] for row in index.rows("PRAGMA table_info(runs)")}


def test_the_lists_of_tables_are_complete(folder: Path) -> None:
    """What an index may hold is what the steps make."""
    with closing(Archive.open(str(folder))) as archive:
        assert archive.index.tables() == TABLES
        indexes = archive.index.rows(
            "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql != ''"
        )
        assert {name for (name,) in indexes} == INDEXES
