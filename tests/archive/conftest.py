"""Archives of both kinds, and the servers that one kind needs, started once for all tests that ask."""

from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import count
from pathlib import Path

import pytest

from compdiff.archive import Archive
from tests.archive import servers

Place = Callable[[], str]
"""Makes an empty archive and returns its location."""

_NUMBERS = count()
_BUCKET = "runs"


@pytest.fixture(name="postgres_url", scope="session")
def _postgres_url() -> Iterator[str]:
    if reason := servers.why_no_postgres():
        pytest.skip(reason)
    with servers.postgres() as url:
        yield url


@pytest.fixture(name="s3_url", scope="session")
def _s3_url() -> Iterator[str]:
    if reason := servers.why_no_s3():
        pytest.skip(reason)
    with servers.s3() as url:
        yield url


@pytest.fixture(name="database")
def _database(postgres_url: str) -> str:
    """Make an empty database and return its URL."""
    psycopg = import_module("psycopg")
    name = f"archive{next(_NUMBERS)}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return postgres_url.replace("/postgres?", f"/{name}?")


@pytest.fixture(name="bucket")
def _bucket(s3_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the URL of an empty folder in a bucket, with what reaches it in the environment."""
    s3fs = import_module("s3fs")
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3_url)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "anyone")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "anything")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    system = s3fs.S3FileSystem(skip_instance_cache=True, use_listings_cache=False)
    if not system.exists(_BUCKET):
        system.mkdir(_BUCKET)
    return f"s3://{_BUCKET}/archive{next(_NUMBERS)}"


@pytest.fixture(name="place", params=["folder", "postgresql-s3", "postgresql-folder"])
def _place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Make an empty archive of each kind, one a test, and return its location."""
    if request.param == "folder":
        location, blobs = str(tmp_path / "archive"), ""
    else:
        location = request.getfixturevalue("database")
        is_s3 = request.param == "postgresql-s3"
        blobs = request.getfixturevalue("bucket") if is_s3 else str(tmp_path / "blobs")
    Archive.create(location, blobs=blobs).close()
    return location


@pytest.fixture(name="archive")
def _archive(place: str) -> Iterator[Archive]:
    """Open an archive of each kind."""
    archive = Archive.open(place)
    yield archive
    archive.close()


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    """Make an archive in a folder."""
    Archive.create(str(tmp_path / "archive")).close()
    return tmp_path / "archive"
