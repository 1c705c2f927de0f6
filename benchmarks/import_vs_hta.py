"""Compares `compdiff import` with TraceDiff of HolisticTraceAnalysis. Run: python benchmarks/import_vs_hta.py HTA_PYTHON.

HTA_PYTHON is the python of an environment with HolisticTraceAnalysis==0.5.0. The traces are those in COMPDIFF_TRACES, by
default ../shared/traces. Both tools read the same pair in fresh processes, in turns (A B B A), because only ratios mean
anything on a shared machine; compdiff also aligns and writes its report. Then compdiff alone reads a trace repeated to 125
thousand up to a million events. Memory is that of all processes together (the sum of their proportional shares), sampled
in runs that are not timed. Exit code 1 when a limit is missed.
"""

import argparse
import gzip
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TRACES = Path(os.environ.get("COMPDIFF_TRACES", ROOT.parent / "shared" / "traces"))
COMPILED = Path(tempfile.gettempdir()) / f"compdiff-benchmark-{os.getpid()}"
MOST_TIME = 0.1
MOST_MEMORY = 1.0
MOST_OF_FILE = 4.0
SIZES = (125_000, 250_000, 500_000, 1_000_000)
SAMPLE_S = 0.01
HTA = """
import sys

from hta.common.trace import Trace
from hta.trace_diff import LabeledTrace, TraceDiff

control, test = (
    LabeledTrace(label=label, t=Trace(trace_files={0: path}, trace_dir="/"))
    for label, path in zip(("control", "test"), sys.argv[1:])
)
print(TraceDiff.compare_traces(control, test))
"""


@dataclass
class Cost:
    """What one process took, with its children."""

    wall_s: float
    cpu_s: float


def cost(command: list[str]) -> Cost:
    """Run a command and return its times."""
    start = perf_counter()
    process = _started(command)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"failed: {' '.join(command)}")
    return Cost(perf_counter() - start, usage.ru_utime + usage.ru_stime)


def peak_mb(command: list[str]) -> float:
    """Run a command and return the most memory that it and its children held together, in MB of 10^6 bytes."""
    process = _started(command)
    most = 0
    while process.poll() is None:
        most = max(most, sum(map(_held, _family(process.pid))))
        sleep(SAMPLE_S)
    if process.returncode:
        raise SystemExit(f"failed: {' '.join(command)}")
    return most * 1024 / 1e6


def _started(command: list[str]) -> "subprocess.Popen[bytes]":
    # An installed package has its modules compiled: a checkout is to be measured so too, whatever the shell says.
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": str(COMPILED)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    nothing = subprocess.DEVNULL
    return subprocess.Popen(command, env=environment, stdout=nothing, stderr=nothing)  # noqa: S603


def _family(pid: int) -> list[int]:
    """Return a process and its descendants that are still there."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid, *(one for child in children for one in _family(int(child)))]


def _held(pid: int) -> int:
    """Return a process's share of memory in KiB, pages in common with others divided among them; 0 once it is gone."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


def repeated(events: list[dict[str, Any]], size: int) -> list[dict[str, Any]]:
    """Return `size` events: the given ones over and over, each time later, with ids, correlations and steps of their own."""
    starts = [event["ts"] for event in events if event.get("ph") == "X"]
    period = max(starts) - min(starts) + 1_000_000
    largest = 1 + max(_ids(event) for event in events)
    made: list[dict[str, Any]] = []
    while len(made) < size:
        turn = len(made) // len(events)
        made += [shifted(event, turn * period, turn * largest, turn) for event in events]
    return made[:size]


_IDS = ("correlation", "External id")
_STEP = "ProfilerStep#"


def _ids(event: dict[str, Any]) -> int:
    arguments = event.get("args", {})
    return max([0, *(arguments[key] for key in _IDS if isinstance(arguments.get(key), int))])


def shifted(event: dict[str, Any], later: int, further: int, turn: int) -> dict[str, Any]:
    """Return an event some microseconds later, its ids that much larger, a step of another number."""
    made = dict(event)
    if "ts" in made:
        made["ts"] += later
    if "args" in made:
        made["args"] = {
            key: value + further if key in _IDS and isinstance(value, int) else value
            for key, value in made["args"].items()
        }
    name = str(made.get("name", ""))
    if name.startswith(_STEP):
        made["name"] = f"{_STEP}{int(name.removeprefix(_STEP)) + 1000 * turn}"
    return made


def compare(hta_python: str, pair: list[Path], rounds: int, folder: str) -> bool:
    """Print what both take for a pair; return whether the limits hold."""
    paths = [str(path) for path in pair]
    ours = [sys.executable, "-m", "compdiff", "import", *paths, "--out", folder]
    theirs = [hta_python, "-c", HTA, *paths]
    cost(ours), cost(theirs)  # files into the cache, modules compiled
    found: dict[str, list[Cost]] = {"compdiff": [], "HTA": []}
    print("| run | wall s | CPU s |\n|---|--:|--:|")
    for turn in range(rounds):
        turns = [("compdiff", ours), ("HTA", theirs)]
        for name, command in turns if turn % 2 == 0 else reversed(turns):
            found[name].append(cost(command))
            print(f"| {name} | {found[name][-1].wall_s:.2f} | {found[name][-1].cpu_s:.2f} |")
    memory = {"compdiff": peak_mb(ours), "HTA": peak_mb(theirs)}
    wall = {key: statistics.median(one.wall_s for one in costs) for key, costs in found.items()}
    cpu = {key: statistics.median(one.cpu_s for one in costs) for key, costs in found.items()}
    print("\n| median | compdiff | HTA | compdiff / HTA |\n|---|--:|--:|--:|")
    for what, values in (("wall s", wall), ("CPU s", cpu), ("peak MB", memory)):
        mine, other = values["compdiff"], values["HTA"]
        print(f"| {what} | {mine:.2f} | {other:.2f} | {mine / other:.3f} |")
    is_fast = wall["compdiff"] <= MOST_TIME * wall["HTA"]
    return is_fast and memory["compdiff"] <= MOST_MEMORY * memory["HTA"]


def slope(trace: Path, folder: str) -> bool:
    """Print what traces of growing size take; return whether memory stays within its limit."""
    with gzip.open(trace) as file:
        content = json.load(file)
    original = content["traceEvents"]
    print("\n| events | file MB | wall s | CPU s | CPU s per million | peak MB | peak / file |")
    print("|--:|--:|--:|--:|--:|--:|--:|")
    fits = True
    for size in SIZES:
        path = Path(folder) / f"{size}.json"
        path.write_text(json.dumps({**content, "traceEvents": repeated(original, size)}))
        file_mb = path.stat().st_size / 1e6
        command = [sys.executable, "-m", "compdiff", "import", str(path), "--out", folder]
        costs = [cost(command) for _ in range(3)]
        wall, cpu = min(one.wall_s for one in costs), min(one.cpu_s for one in costs)
        memory = peak_mb(command)
        fits = fits and memory <= MOST_OF_FILE * file_mb
        each = f"{cpu / size * 1e6:.2f} | {memory:.0f} | {memory / file_mb:.2f}"
        print(f"| {size:,} | {file_mb:.1f} | {wall:.2f} | {cpu:.2f} | {each} |")
        path.unlink()
    return fits


def main() -> int:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("hta_python")
    parser.add_argument(
        "control", nargs="?", type=Path, default=TRACES / "hta-diff-control.json.gz"
    )
    parser.add_argument("test", nargs="?", type=Path, default=TRACES / "hta-diff-test.json.gz")
    parser.add_argument("--rounds", type=int, default=4)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        holds = compare(asked.hta_python, [asked.control, asked.test], asked.rounds, folder)
        fits = slope(asked.control, folder)
    shutil.rmtree(COMPILED, ignore_errors=True)
    return int(not (holds and fits))


if __name__ == "__main__":
    sys.exit(main())
