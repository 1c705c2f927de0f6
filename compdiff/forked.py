"""Work in a second process. In: a function that returns bytes. Out: the bytes, whichever process made them.

A fork starts in a millisecond and has all that the function needs; it is worth its memory where work takes a good part of
a second. Where one cannot be had, or ends without an answer, the work is done here, so that an error is raised here too.
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

_THREADS = Path("/proc/self/task")


@contextmanager
def beside(work: Callable[[], bytes]) -> Iterator[Callable[[], bytes]]:
    """Start work in a second process; what is given waits for its bytes, and is to be called once.

    The process has ended when the block is left, whatever happens in it.
    """
    if not can_fork():
        yield work
        return
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)  # or it would wait for itself to read what nobody else does
        _answer(work, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        ended: list[int] = []

        def wait() -> bytes:
            data = pipe.read()
            ended.append(os.waitpid(child, 0)[1])
            return work() if ended[0] else data

        try:
            yield wait
        finally:
            pipe.close()
            if not ended:
                os.waitpid(child, 0)


def can_fork() -> bool:
    """Return whether a second process has a core of its own, and nothing that a fork would break runs in this one."""
    if sys.platform != "linux" or len(os.sched_getaffinity(0)) == 1:
        return False
    return sum(1 for _ in _THREADS.iterdir()) == 1


def _answer(work: Callable[[], bytes], writing: int) -> NoReturn:
    """Write what the work returns and end; nothing of the parent is flushed or cleaned up twice."""
    code = 1
    try:
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(work())
        code = 0
    finally:
        os._exit(code)
