"""Where an archive is. In: what a user calls it: a folder or a URL. Out: its index and its blobs, open."""

from pathlib import Path
from urllib.parse import unquote, urlsplit

from compdiff.archive import migrate
from compdiff.archive.blobs import Blobs, FolderBlobs
from compdiff.archive.index import Index, SqliteIndex, UrlIndex, without_password
from compdiff.errors import CompdiffError

INDEX_FILE = "index.sqlite"
BLOBS_FOLDER = "blobs"
_DATABASES = ("postgresql", "postgres")


def open_location(location: str) -> tuple[Index, Blobs]:
    """Return index and blobs of an archive.

    Raises:
        CompdiffError: there is none, it cannot be read, or it is of another version.
    """
    if not is_url(location):
        index: Index = SqliteIndex(Path(location) / INDEX_FILE)
        migrate.check(index)
        return index, FolderBlobs(Path(location) / BLOBS_FOLDER)
    index = _url_index(location)
    migrate.check(index)
    return index, blobs_at(migrate.fact(index, "blobs"))


def create_location(location: str, blobs: str = "") -> tuple[Index, Blobs, int | None]:
    """Return index and blobs of an archive, made now or brought to this version, and the version it had, if any.

    Raises:
        CompdiffError: it cannot be made, or there is a newer one.
    """
    if not is_url(location):
        return _create_folder(Path(location), blobs)
    index = _url_index(location)
    before = migrate.version(index)
    if before is None and not blobs:
        raise CompdiffError(
            "an archive whose index is a database needs a place for its blobs",
            "Give one with --blobs: a folder on a share, s3://bucket/folder or gs://bucket/folder.",
        )
    if before is None:
        blobs_at(blobs)
        blobs = blobs if is_url(blobs) else str(Path(blobs).absolute())
    before = migrate.upgrade(index, {"blobs": blobs})
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
    index = SqliteIndex(path, create=not path.is_file() or not path.stat().st_size)
    before = migrate.upgrade(index, {})
    return index, FolderBlobs(folder / BLOBS_FOLDER), before
