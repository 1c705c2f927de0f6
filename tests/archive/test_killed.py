"""Writers that are killed at any instant, several at once: nothing that was acknowledged is lost, nothing else is seen."""

import os
import random
import signal
import time
from contextlib import closing
from pathlib import Path

import pytest

from compdiff.archive import Archive
from compdiff.archive.prune import Policy, prune
from compdiff.archive.verify import verify
from tests.archive.writers import Nursery, nursery

WRITERS = 8
SHORTEST_S = 0.5
LONGEST_S = 4.0
PRUNING_S = 3.0
WAIT_S = 60


def kill_writers(place: str, told: Path, kills: int) -> int:
    """Start writers, eight at a time, and kill each at a random instant; return how many runs were acknowledged."""
    generator = random.Random(20261203)  # noqa: S311 - instants, no secrets
    with nursery(place, told) as writers:
        # Some must live long enough to add runs, however slow the archive and this machine are just now.
        needed_s = WRITERS * first_run_s(writers, told, kills)
        longest_s = min(max(SHORTEST_S, needed_s), LONGEST_S)
        for first in range(0, kills, WRITERS):
            born = [writers.start(number) for number in range(first, min(first + WRITERS, kills))]
            ends = sorted((generator.uniform(0, longest_s), process) for process in born)
            start = time.monotonic()
            for end, process in ends:
                time.sleep(max(0.0, start + end - time.monotonic()))
                os.kill(process, signal.SIGKILL)
    return len(told.read_text().split()) if told.exists() else 0


def first_run_s(writers: Nursery, told: Path, number: int) -> float:
    """Return how long a writer takes to add its first run, alone (s)."""
    start = time.monotonic()
    process = writers.start(number)
    while not (told.exists() and told.stat().st_size):
        assert time.monotonic() - start < WAIT_S, "no run was added"
        time.sleep(0.005)
    spent_s = time.monotonic() - start
    os.kill(process, signal.SIGKILL)
    return spent_s


def check(place: str, told: Path) -> None:
    """Nothing is damaged, and every run that a writer was told is safe is there and whole."""
    archive = Archive.open(place)
    assert verify(archive).damage == ()
    ids = {entry.id for entry in archive.find()}
    acknowledged = set(told.read_text().split()) if told.exists() else set()
    assert acknowledged <= ids
    archive.close()


def test_killed_writers_lose_nothing(place: str, tmp_path: Path) -> None:
    """Sixteen writers killed at random: the archive is sound, and has all that was acknowledged."""
    kill_writers(place, tmp_path / "told", 16)

    check(place, tmp_path / "told")


def test_prune_beside_writers_removes_nothing_they_need(place: str, tmp_path: Path) -> None:
    """Four writers at work while all but the newest runs and every blob of no run are removed, again and again."""
    removed = 0
    with closing(Archive.open(place)) as archive, nursery(place, tmp_path / "told") as writers:
        for number in range(4):
            writers.start(number)
        end = time.monotonic() + PRUNING_S
        while time.monotonic() < end or not removed:
            removed += len(prune(archive, Policy(keep=1, grace_s=-60)).runs)
        assert verify(archive).damage == ()
    with closing(Archive.open(place)) as archive:
        assert verify(archive).damage == ()
        assert {entry.case for entry in archive.find()} <= {f"case{number}" for number in range(4)}
        assert archive.find()


@pytest.mark.measured
def test_two_hundred_killed_writers_lose_nothing(place: str, tmp_path: Path) -> None:
    """Two hundred kills, and enough runs between them that they hit writers at work."""
    acknowledged = kill_writers(place, tmp_path / "told", 200)

    check(place, tmp_path / "told")
    assert acknowledged > 100
