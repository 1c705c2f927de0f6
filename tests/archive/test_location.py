"""Where an archive can be, and where none can."""

from contextlib import closing
from pathlib import Path

import pytest

from compdiff.archive import Archive
from compdiff.archive.blobs import FolderBlobs
from compdiff.archive.location import blobs_at, create_location, is_url, open_location
from compdiff.archive.schema import VERSION
from compdiff.errors import CompdiffError


def test_a_folder_is_made_once(tmp_path: Path) -> None:
    """The first call makes it, with the folders above; the second says that it was up to date."""
    place = tmp_path / "above" / "archive"

    for expected in (None, VERSION):
        index, _, before = create_location(str(place))
        index.close()
        assert before == expected
    assert sorted(path.name for path in place.iterdir()) == ["blobs", "index.sqlite"]


@pytest.mark.parametrize("name", ["a b", "ü#?%20", "file:x", "-x", "?mode=memory"])
def test_any_name_of_a_folder_will_do(tmp_path: Path, name: str) -> None:
    """Characters that mean something in a URL mean nothing in the name of a folder."""
    Archive.create(str(tmp_path / name)).close()

    with closing(Archive.open(str(tmp_path / name))) as archive:
        assert archive.find() == ()
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_folder_has_its_blobs_in_it(tmp_path: Path) -> None:
    """Blobs elsewhere are for databases."""
    with pytest.raises(CompdiffError, match="keeps its blobs there"):
        create_location(str(tmp_path / "archive"), str(tmp_path / "blobs"))
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_no_archive(tmp_path: Path) -> None:
    """Neither opened nor made where a file is."""
    (tmp_path / "file").write_text("x")

    with pytest.raises(CompdiffError, match=r"index\.sqlite is missing"):
        open_location(str(tmp_path / "file"))
    with pytest.raises(CompdiffError, match="cannot make"):
        create_location(str(tmp_path / "file"))


@pytest.mark.parametrize(
    "url", ["mysql://me:secret@host/x", "http://me:secret@host/x", "sqlite:///x"]
)
def test_urls_that_are_no_archive(url: str) -> None:
    """The message names what can be one, and no password."""
    with pytest.raises(CompdiffError, match="no archive can be at") as caught:
        open_location(url)
    assert "secret" not in str(caught.value)
    assert "postgresql://" in caught.value.hint


@pytest.mark.parametrize("url", ["http://host/x", "ftp://host/x", "s3://a::zip://b", "memory://x"])
def test_urls_that_hold_no_blobs(url: str) -> None:
    """Other kinds of store, and chains of them, are refused before anything is asked of them."""
    with pytest.raises(CompdiffError, match="no blobs can be kept"):
        blobs_at(url)


def test_a_file_url_is_a_folder(tmp_path: Path) -> None:
    """`file://` is written as URLs are, with what is special in them quoted."""
    blobs = blobs_at((tmp_path / "a b").as_uri())

    assert isinstance(blobs, FolderBlobs)
    blobs.put("a" * 64, b"x")
    assert (tmp_path / "a b" / "aa" / ("a" * 62)).read_bytes() == b"x"


@pytest.mark.parametrize(
    ("location", "expected"), [("out", False), ("a:b", False), ("postgresql://h/d", True)]
)
def test_what_is_a_url(location: str, *, expected: bool) -> None:
    """Two slashes after a colon make a URL."""
    assert is_url(location) == expected


def test_a_database_needs_a_place_for_blobs(database: str) -> None:
    """A new archive in a database says that its blobs have no place; nothing is made."""
    with pytest.raises(CompdiffError, match="needs a place for its blobs"):
        create_location(database)
    with pytest.raises(CompdiffError, match="holds no archive"):
        open_location(database)


def test_a_database_remembers_its_blobs(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that was given by a relative name is found from anywhere."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    create_location(database, "blobs")[0].close()
    monkeypatch.chdir(tmp_path / "elsewhere")

    index, blobs = open_location(database)
    index.close()

    blobs.put("a" * 64, b"x")
    assert (tmp_path / "blobs" / "aa" / ("a" * 62)).exists()
