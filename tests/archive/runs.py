"""Runs for the tests of the archive: a real one from the golden runs, and variants of it."""

from functools import cache
from pathlib import Path

import msgspec

from compdiff.archive import Archive
from compdiff.model import Run, Samples
from compdiff.store import read_run

_GOLDEN = Path(__file__).parents[1] / "golden" / "cpu"


@cache
def golden(name: str = "linear") -> Run:
    """Return a golden run."""
    return read_run(_GOLDEN / f"{name}.run.json.gz")


def measured_again(run: Run, turn: int) -> Run:
    """Return a run of the same case measured again: other times, at another time, and all else the same."""
    day, second = divmod(turn, 86_400)
    created = (
        f"2026-01-{day + 1:02}T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}+00:00"
    )
    timing = run.timing
    if timing is not None:
        left = _later(timing.left, turn)
        timing = msgspec.structs.replace(timing, left=left, right=_later(timing.right, turn))
    return msgspec.structs.replace(run, created=created, timing=timing)


def in_environment(run: Run, **changes: str | bool) -> Run:
    """Return the run with another environment."""
    return msgspec.structs.replace(
        run, environment=msgspec.structs.replace(run.environment, **changes)
    )


def of_case(run: Run, name: str) -> Run:
    """Return the run as that of a case of another name."""
    return msgspec.structs.replace(run, case=msgspec.structs.replace(run.case, name=name))


def fill(archive: Archive) -> None:
    """Add four runs that differ in each part of the key."""
    here = {"host": "here", "git_branch": "main", "git_commit": "aaaa" * 10, "cuda": "13.0"}
    base = of_case(golden(), "one")
    case = msgspec.structs.replace(base.case, params={"size": 64})
    base = msgspec.structs.replace(base, case=case)
    options = msgspec.structs.replace(base.options, mode="max-autotune")
    archive.add(in_environment(measured_again(base, 0), torch="2.11.0", **here))
    two = in_environment(measured_again(base, 1), torch="2.14.1+cu130", git_dirty=True, **here)
    archive.tag(archive.add(two), "good")
    three = measured_again(msgspec.structs.replace(base, options=options), 2)
    archive.pin(archive.add(in_environment(three, torch="2.12.0a0+git123")), why="because")
    archive.add(in_environment(measured_again(of_case(base, "two"), 3), torch="2.11.1"))


def _later(samples: Samples, turn: int) -> Samples:
    times = tuple(
        ns + (index * 7919 + turn * 104_729) % 997 for index, ns in enumerate(samples.ns_per_call)
    )
    return msgspec.structs.replace(samples, ns_per_call=times)
