"""Writers that are killed. A process that imports once and forks a writer for each line it reads.

Each writer adds runs without end, and appends the id of each to a file when it was told that the run is safe.
"""

import importlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import msgspec

from compdiff.archive import Archive
from compdiff.model import Run
from tests.archive.runs import golden, measured_again, of_case

_FOR_URLS = ("psycopg", "s3fs", "sqlalchemy")


def changed(run: Run, turn: int) -> Run:
    """Return a run whose case and generated code are its own, so that each kind of blob is new."""
    compiler = run.right.compiler
    assert compiler is not None
    graph, *others = compiler.graphs
    code = f"{graph.wrapper_code}\n# {turn}\n"
    graphs = (msgspec.structs.replace(graph, wrapper_code=code), *others)
    compiler = msgspec.structs.replace(compiler, graphs=graphs)
    right = msgspec.structs.replace(run.right, compiler=compiler)
    return of_case(msgspec.structs.replace(run, right=right), f"case{turn}")


def write_for_ever(location: str, told: Path, first: int) -> None:
    """Add runs that are new, and note the id of each that is safe."""
    run = changed(golden(), first)
    with told.open("ab", buffering=0) as file:
        archive = Archive.open(location)
        for turn in count(first * 1000):
            file.write(f"{archive.add(measured_again(run, turn))}\n".encode())


@contextmanager
def nursery(location: str, told: Path) -> Iterator["Nursery"]:
    """Start the process that forks writers; all are gone at the end."""
    process = subprocess.Popen(  # noqa: S603 - this module
        [sys.executable, "-m", "tests.archive.writers", location, str(told)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        start_new_session=True,
    )
    try:
        yield Nursery(process)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


class Nursery:
    """Starts writers by their number."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process

    def start(self, number: int) -> int:
        """Return the process id of a new writer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{number}\n".encode())
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


def main() -> None:
    """Fork a writer for each number read, and print its process id."""
    location, told = sys.argv[1:]
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    golden()
    # Once, before any writer is forked.
    for module in ("compdiff.archive.summarise", *(_FOR_URLS if "://" in location else ())):
        importlib.import_module(module)
    for line in sys.stdin:
        process = os.fork()
        if process == 0:
            write_for_ever(location, Path(told), int(line))
        print(process, flush=True)  # noqa: T201 - read by the test


if __name__ == "__main__":
    main()
