"""A real PostgreSQL and a real server that speaks S3, both started for the tests on this machine alone."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

# PostgreSQL refuses to run as root.
_USER = "nobody"
_WAIT_S = 60


def postgres_program(name: str) -> str | None:
    """Return the path of one of PostgreSQL's programs: Debian keeps them out of PATH."""
    debian = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(debian[-1]) if debian else shutil.which(name)


def why_no_postgres() -> str:
    """Return why PostgreSQL cannot be started here; "" where it can."""
    if postgres_program("initdb") is None or postgres_program("postgres") is None:
        return "PostgreSQL is not installed (Debian: apt-get install postgresql)"
    missing = [name for name in ("sqlalchemy", "psycopg") if find_spec(name) is None]
    return f"not installed: {', '.join(missing)}" if missing else ""


def why_no_s3() -> str:
    """Return why no S3 server can be started here; "" where one can."""
    missing = [name for name in ("moto", "flask", "s3fs") if find_spec(name) is None]
    return f"not installed: {', '.join(missing)}" if missing else ""


@contextmanager
def postgres() -> Iterator[str]:
    """Start PostgreSQL in a folder of its own, which takes no connection but by a socket in it; give its URL."""
    folder = Path(tempfile.mkdtemp(prefix="compdiff-pg-"))
    other = _USER if os.geteuid() == 0 else None
    if other is not None:
        shutil.chown(folder, other)
    initdb, server = postgres_program("initdb"), postgres_program("postgres")
    assert initdb is not None
    assert server is not None
    data = str(folder / "data")
    made = [initdb, "--no-sync", "--auth=trust", "--encoding=UTF8", "--no-locale", "-D", data]
    environment = {**os.environ, "HOME": str(folder)}
    subprocess.run(  # noqa: S603 - PostgreSQL's own program
        made, check=True, stdout=subprocess.DEVNULL, cwd=folder, env=environment, user=other
    )
    # Nothing here asks what a power failure does to the server itself.
    options = ["-c", "listen_addresses=", "-c", "fsync=off", "-k", str(folder)]
    log = (folder / "log").open("wb")
    process = subprocess.Popen(  # noqa: S603 - PostgreSQL's own program
        [server, "-D", data, *options],
        stdout=log,
        stderr=log,
        cwd=folder,
        env=environment,
        user=other,
    )
    try:
        _wait_for((folder / ".s.PGSQL.5432").exists, process)
        user = other or pwd.getpwuid(os.geteuid()).pw_name
        yield f"postgresql://{user}@/postgres?host={folder}"
    finally:
        process.send_signal(signal.SIGINT)  # at once, whoever is connected
        process.wait(_WAIT_S)
        log.close()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def s3() -> Iterator[str]:
    """Start a server that speaks S3 on the loopback interface; give its URL."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(  # noqa: S603 - a package of the test extra
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    try:
        _wait_for(lambda: _answers(port), process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(_WAIT_S)


def _wait_for(condition: Callable[[], bool], process: "subprocess.Popen[bytes]") -> None:
    end = time.monotonic() + _WAIT_S
    while not condition():
        assert process.poll() is None, "the server ended"
        assert time.monotonic() < end, "the server does not answer"
        time.sleep(0.05)


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
