"""Work in a second process: its bytes come back, and its failure is this process's own."""

import multiprocessing
import os

import pytest

from compdiff import forked
from compdiff.errors import FormatError


@pytest.fixture(params=[True, False], ids=["forks", "alone"])
def forks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Let a fork happen, whatever threads the tests have, or none."""
    may = bool(request.param)
    monkeypatch.setattr(forked, "can_fork", lambda: may)
    return may


def test_the_bytes_come_back(forks: bool) -> None:  # noqa: FBT001 - a fixture
    """All of them, more than a pipe holds, made by the process that is said."""

    def work() -> bytes:
        return os.getpid().to_bytes(8, "little") + bytes(1 << 20)

    with forked.beside(work) as answer:
        data = answer()
    assert len(data) == 8 + (1 << 20)
    assert (int.from_bytes(data[:8], "little") == os.getpid()) != forks


@pytest.mark.usefixtures("forks")
def test_an_error_is_raised_here() -> None:
    """With its own type and words, though it came up in another process first."""

    def work() -> bytes:
        message = "truncated"
        raise FormatError(message)

    with pytest.raises(FormatError, match="truncated"), forked.beside(work) as answer:
        answer()


@pytest.mark.usefixtures("forks")
def test_an_error_of_the_block_leaves_no_process() -> None:
    """The second process has ended, with nobody to take its bytes."""
    with pytest.raises(ZeroDivisionError), forked.beside(lambda: bytes(1 << 20)):
        raise ZeroDivisionError
    assert not multiprocessing.active_children()


def test_one_core_is_not_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second process without a core of its own would only take turns."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    assert not forked.can_fork()
