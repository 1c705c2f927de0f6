"""Where an archive is. In: what a user calls it: a folder or a URL. Out: its index and its blobs, open."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar
from urllib.parse import unquote, urlsplit

from compdiff.archive import migrate
from compdiff.archive.blobs import Blobs, FolderBlobs
from compdiff.archive.index import Index, SqliteIndex, UrlIndex, without_password
from compdiff.errors import CompdiffError

INDEX_FILE = "index.sqlite"
BLOBS_FOLDER = "blobs"
T = TypeVar("T", bound=Index)
_DATABASES = ("postgresql", "postgres")


def open_location(location: str) -> tuple[Index, Blobs]:
    """Return index and blobs of an archive.

    Raises:
        CompdiffError: there is none, it cannot be read, or it is of another version.
    """
    if not is_url(location):
        with _closed_on_error(SqliteIndex(Path(location) / INDEX_FILE)) as file:
            migrate.check(file)
            return file, FolderBlobs(Path(location) / BLOBS_FOLDER)
    with _closed_on_error(_url_index(location)) as index:
        migrate.check(index)
        return index, blobs_at(migrate.fact(index, "blobs"))


def create_location(location: str, blobs: str = "") -> tuple[Index, Blobs, int | None]:
    """Return index and blobs of an archive, made now or brought to this version, and the version it had, if any.

    Raises:
        CompdiffError: it cannot be made, or there is a newer one.
    """
    if not is_url(location):
        return _create_folder(Path(location), blobs)
    with _closed_on_error(_url_index(location)) as index:
        place = _place_of_blobs(blobs) if migrate.version(index) is None else ""
        before = migrate.upgrade(index, {"blobs": place})
        return index, blobs_at(migrate.fact(index, "blobs")), before


def blobs_at(place: str) -> Blobs:
    """Return the blobs at a folder or URL.

    Raises:
        CompdiffError: it is a URL of a kind that keeps no archive, or its package is missing.
    """
    if not is_url(place):
        return FolderBlobs(Path(place))
    scheme = place.partition("://")[0]
    if scheme == "file":
        return FolderBlobs(Path(unquote(urlsplit(place).path)))
    from compdiff.archive.remote_blobs import SCHEMES, RemoteBlobs  # noqa: PLC0415 - few need it

    if scheme not in SCHEMES or "::" in place:
        raise CompdiffError(
            f"no blobs can be kept at {without_password(place)!r}",
            f"Give a folder, or a URL that starts with file, {', '.join(sorted(SCHEMES))}.",
        )
    return RemoteBlobs(place)


def is_url(location: str) -> bool:
    """Return whether a location is a URL rather than a folder."""
    return "://" in location


def _place_of_blobs(blobs: str) -> str:
    """Return where the blobs of a new archive are, as it is found from anywhere."""
    if not blobs:
        raise CompdiffError(
            "an archive whose index is a database needs a place for its blobs",
            "Give one with --blobs: a folder on a share, s3://bucket/folder or gs://bucket/folder.",
        )
    blobs_at(blobs)
    return blobs if is_url(blobs) else str(Path(blobs).absolute())


@contextmanager
def _closed_on_error(index: T) -> Iterator[T]:
    """Give an index, and let go of it if what is done with it fails."""
    try:
        yield index
    except BaseException:
        index.close()
        raise


def _url_index(location: str) -> Index:
    if location.partition("://")[0].partition("+")[0] not in _DATABASES:
        raise CompdiffError(
            f"no archive can be at {without_password(location)!r}",
            "Give a folder, or postgresql://user@host/database.",
        )
    return UrlIndex(location)


def _create_folder(folder: Path, blobs: str) -> tuple[Index, Blobs, int | None]:
    if blobs:
        raise CompdiffError(
            "an archive in a folder keeps its blobs there",
            "Leave out --blobs, or keep the index in a database: postgresql://user@host/database.",
        )
    try:
        (folder / BLOBS_FOLDER).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CompdiffError(f"cannot make {folder}: {error.strerror or error}") from error
    path = folder / INDEX_FILE
    is_new = not path.is_file() or not path.stat().st_size
    with _closed_on_error(SqliteIndex(path, create=is_new)) as index:
        before = migrate.upgrade(index, {})
        return index, FolderBlobs(folder / BLOBS_FOLDER), before
