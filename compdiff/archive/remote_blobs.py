"""Blobs as objects that fsspec reaches. In: bytes, a URL (`s3://bucket/folder`). Out: objects named by their hash.

An object appears whole or not at all; that is what these stores promise, so nothing is written beside it first.
Credentials and endpoints are those of the environment (`AWS_PROFILE`, `AWS_ENDPOINT_URL`), never of the archive.
"""

import importlib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any, TypeVar

from compdiff.archive.blobs import DamagedBlobError, MissingBlobError, StoredFile, is_hash
from compdiff.errors import CompdiffError

# Anything else that fsspec knows (http, zip, chains of both) is no place to keep an archive, or leads elsewhere.
SCHEMES = {"s3": "s3fs", "gs": "gcsfs", "gcs": "gcsfs"}
_AT_ONCE = 16
T = TypeVar("T")


class RemoteBlobs:
    """Blobs below the URL of a folder."""

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")
        self._system, self._root = _file_system(self._url)

    def missing(self, hashes: Iterable[str]) -> set[str]:
        """Return which of these blobs are not there, asking for several at a time."""
        names = list(hashes)
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            found = list(pool.map(self._exists, names))
        return {name for name, there in zip(names, found, strict=True) if not there}

    def put(self, name: str, data: bytes) -> None:
        """Write an object."""
        self._asked(lambda: self._system.pipe_file(self._path(name), data), "write", name)

    def get(self, name: str, limit: int) -> bytes:
        """Return at most `limit` bytes of an object."""
        data = self._asked(
            lambda: self._system.cat_file(self._path(name), start=0, end=limit), "read", name
        )
        return bytes(data)

    def remove(self, name: str) -> None:
        """Remove an object, if it is there."""
        try:
            self._asked(lambda: self._system.rm_file(self._path(name)), "remove", name)
        except MissingBlobError:
            return

    def files(self) -> Iterator[StoredFile]:
        """Yield all objects below the URL."""
        found = self._asked(lambda: self._system.find(self._root, detail=True), "list", "")
        for path, info in sorted(found.items()):
            name = path.removeprefix(self._root).strip("/")
            joined = name.replace("/", "")
            written = info.get("LastModified") or info.get("mtime") or info.get("updated")
            yield StoredFile(
                joined if is_hash(joined) else name, int(info["size"] or 0), _seconds(written)
            )

    def _exists(self, name: str) -> bool:
        return bool(self._asked(lambda: self._system.exists(self._path(name)), "look up", name))

    def _path(self, name: str) -> str:
        if not is_hash(name):
            raise DamagedBlobError(f"no blob can be called {name!r}")
        return f"{self._root}/{name[:2]}/{name[2:]}"

    def _asked(self, ask: Callable[[], T], verb: str, name: str) -> T:
        try:
            return ask()
        except FileNotFoundError as error:
            raise MissingBlobError(f"blob {name} is missing") from error
        except CompdiffError:
            raise
        except Exception as error:  # each store has errors of its own
            raise CompdiffError(
                f"cannot {verb} {self._url} {name}: {type(error).__name__}: {error}",
                "Check the network, the bucket, and the credentials in the environment.",
            ) from error


def _file_system(url: str) -> tuple[Any, str]:
    package = SCHEMES[url.partition("://")[0]]
    try:
        # Only archives with remote blobs need it, and importing it takes time.
        fsspec = importlib.import_module("fsspec")
        # Another process may have written since: no listing is ever remembered.
        options = {"use_listings_cache": False, "skip_instance_cache": True}
        system, root = fsspec.core.url_to_fs(url, **options)
    except ImportError as error:
        raise CompdiffError(
            f"{url} needs the package {package}, which is not installed", f"pip install {package}"
        ) from error
    return system, root.rstrip("/")


def _seconds(written: object) -> float:
    if isinstance(written, datetime):
        return written.timestamp()
    if isinstance(written, str):
        return datetime.fromisoformat(written.replace("Z", "+00:00")).timestamp()
    return float(written) if isinstance(written, int | float) else 0.0
