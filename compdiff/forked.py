"""Work in a second process. In: a function that returns bytes. Out: the bytes, whichever process made them.

A fork starts in milliseconds and has all that the function needs; it is worth its memory where work takes a good part of
a second. Where one cannot be had, or ends without an answer, the work is done here, so that an error is raised here too.
"""

import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

_THREADS = Path("/proc/self/task")


@contextmanager
def beside(work: Callable[[], bytes]) -> Iterator[Callable[[], bytes]]:
    """Start work in a second process; what is given waits for its bytes, and is to be called once.

    The process has ended when the block is left, whatever happens in it.
    """
    if not can_fork():
        yield work
        return
    context = multiprocessing.get_context("fork")
    reading, writing = context.Pipe(duplex=False)
    process = context.Process(target=_answer, args=(work, reading, writing), daemon=True)
    process.start()
    writing.close()

    def wait() -> bytes:
        try:
            return reading.recv_bytes()
        except EOFError:
            return work()

    try:
        yield wait
    finally:
        reading.close()
        process.join()


def can_fork() -> bool:
    """Return whether a second process has a core of its own, and nothing that a fork would break runs in this one."""
    if sys.platform != "linux" or len(os.sched_getaffinity(0)) == 1:
        return False
    return sum(1 for _ in _THREADS.iterdir()) == 1


def _answer(work: Callable[[], bytes], reading: Connection, writing: Connection) -> None:
    """Hand over what the work returns, or nothing where it fails: the parent does it again, and so has the error."""
    reading.close()  # or a parent that stopped reading would not be noticed
    try:
        writing.send_bytes(work())
    except BaseException:  # noqa: BLE001 - told by the parent, which raises it itself
        os._exit(1)
