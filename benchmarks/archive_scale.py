"""How long the archive's commands take, and how much disk a run takes, in an archive of many runs.

Makes an archive of golden runs measured again and again: each case on two machines, with another torch each 500 runs,
a changed graph each 50, and another commit each run. Prints a Markdown table: the shortest and the median of several
calls, less what Python takes to start and do nothing.

    python benchmarks/archive_scale.py [--runs 10000] [--folder FOLDER] [--calls 7]
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from itertools import count
from pathlib import Path
from statistics import median

import msgspec

from compdiff.archive import Archive, Filter
from compdiff.model import Run, Samples
from compdiff.store import encode_run, read_run, write_run

ROOT = Path(__file__).resolve().parents[1]
GOLDEN = sorted((ROOT / "tests" / "golden" / "cpu").glob("*.run.json.gz"))
_PRIME = 104_729


def main() -> None:
    """Make the archive unless it is there, and time the commands."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--calls", type=int, default=7)
    chosen = parser.parse_args()
    if chosen.folder is not None:
        measure(chosen.folder, chosen.runs, chosen.calls)
        return
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), chosen.runs, chosen.calls)


def measure(folder: Path, runs: int, calls: int) -> None:
    """Print what an archive of so many runs costs."""
    archive = folder / "archive"
    cases = [read_run(path) for path in GOLDEN]
    start = time.perf_counter()
    if not archive.exists():
        fill(archive, cases, runs)
    spent = time.perf_counter() - start
    print(f"{runs} runs added in {spent:.0f} s; on disk {on_disk(archive) / 2**20:.1f} MiB\n")
    print("| a run of | first, KiB on disk | again, KiB on disk | share |")
    print("|---|--:|--:|--:|")
    by_size = sorted(cases, key=lambda run: len(encode_run(run)))
    for run in (by_size[0], by_size[len(by_size) // 2], by_size[-1]):
        with tempfile.TemporaryDirectory(dir=folder) as place:
            first, again = sizes(Path(place), run)
        share = f"{again / first:.1%}"
        print(f"| {run.case.name} | {first / 1024:.1f} | {again / 1024:.1f} | {share} |")
    nothing = times([sys.executable, "-c", "pass"], calls)
    print("\n| command | shortest, s | median, s |\n|---|--:|--:|")
    compdiff = [sys.executable, "-m", "compdiff"]
    name_release(archive, cases[0].case.name)
    path = folder / "new.json.gz"
    for arguments in commands(path, cases[0].case.name):
        # Each call adds a run that is new.
        turns = count(time.time_ns() // 10**9)
        found = times(
            [*compdiff, *group(arguments), *arguments, "--archive", str(archive)],
            calls,
            before=lambda turns=turns: write_run(varied(cases[0], next(turns)), path),
        )
        print(
            f"| {' '.join(Path(a).name if '/' in a else a for a in arguments)} "
            f"| {min(found) - min(nothing):.3f} | {median(found) - median(nothing):.3f} |"
        )


def name_release(location: Path, case: str) -> None:
    """Tag the oldest run of a case, to compare with."""
    with closing(Archive.open(str(location))) as archive:
        archive.tag(archive.find(Filter(case=case))[-1].id, "release")


def group(arguments: Sequence[str]) -> list[str]:
    """Return the group that a command is in."""
    return [] if arguments[0] == "check" else ["archive"]


def commands(path: Path, case: str) -> list[list[str]]:
    """Return the arguments to time; the file is a run to add."""
    return [
        ["add", str(path)],
        ["list"],
        ["list", "--case", case, "--torch", ">=2.12", "--limit", "5"],
        ["list", "--torch", "<1", "--device", "nothing"],
        ["list", "--limit", "10000", "--format", "json"],
        ["history", case],
        ["show", f"latest:{case}"],
        ["compare", "release", f"latest:{case}"],
        ["check", "--runs", str(path), "--baseline", "latest"],
    ]


def fill(location: Path, cases: Sequence[Run], runs: int) -> None:
    """Add runs to a new archive."""
    with closing(Archive.create(str(location))) as archive:
        for turn in range(runs):
            archive.add(varied(cases[turn % len(cases)], turn))


def sizes(folder: Path, run: Run) -> tuple[int, int]:
    """Return the disk that the first run of a case takes in a new archive, and each of twenty more of the same case."""
    location = folder / run.case.name
    with closing(Archive.create(str(location))) as archive:
        empty = on_disk(location)
        archive.add(varied(run, 0))
        first = on_disk(location)
        for turn in range(100, 2100, 100):
            archive.add(varied(run, turn))
    return first - empty, (on_disk(location) - first) // 20


def varied(run: Run, turn: int) -> Run:
    """Return the run as measured another time: other samples and times of op calls, other commit, at times another torch."""
    environment = msgspec.structs.replace(
        run.environment,
        torch=f"2.{11 + turn // 500 % 4}.{turn // 2000}",
        git_commit=f"{turn * _PRIME % 2**160:040x}",
        host=f"host{turn % 2}",
    )
    changes = {"environment": environment, "created": created(turn)}
    if turn // 50 % 2:
        changes["case"] = msgspec.structs.replace(
            run.case, source=f"{run.case.source}# {turn // 50}\n"
        )
    if run.timing is not None:
        timing = msgspec.structs.replace(
            run.timing,
            left=resampled(run.timing.left, turn),
            right=resampled(run.timing.right, turn + 1),
            noise_a=resampled(run.timing.noise_a, turn + 2),
            noise_b=resampled(run.timing.noise_b, turn + 3),
        )
        changes["timing"] = timing
    return msgspec.structs.replace(run, **changes)


def resampled(samples: Samples, turn: int) -> Samples:
    """Return samples of which each is up to 2 % off, in a way that does not compress."""
    times = tuple(
        ns + hash((index, turn, ns)) % max(1, ns // 50)
        for index, ns in enumerate(samples.ns_per_call)
    )
    return msgspec.structs.replace(samples, ns_per_call=times)


def created(turn: int) -> str:
    """Return a time, ten minutes after that of the turn before."""
    return time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(1_760_000_000 + 600 * turn))


def on_disk(folder: Path) -> int:
    """Return how many bytes of disk the files of a folder take, in whole blocks."""
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())


def times(
    command: list[str], calls: int, before: Callable[[], object] = lambda: None
) -> list[float]:
    """Return how long each of several calls takes (s), with modules compiled to bytecode as where compdiff is installed.

    `before` is called before each call.
    """
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    found = []
    for _ in range(calls + 1):  # the first writes the bytecode
        before()
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)  # noqa: S603 - this project's own command
        found.append(time.perf_counter() - start)
    return found[1:]


if __name__ == "__main__":
    main()
