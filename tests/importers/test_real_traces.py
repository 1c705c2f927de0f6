"""Public traces from A100, H100, MI250, MI300 and CPU: what is read equals an independent count of the raw events."""

import contextlib
import gzip
import json
import os
import random
from collections import Counter, defaultdict
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from compdiff.analysis import analyse, check
from compdiff.errors import CompdiffError
from compdiff.importers import Asked, import_traces
from compdiff.model import Capture
from tests.importers.traces import DATA

FOLDERS = [DATA, *map(Path, filter(None, [os.environ.get("COMPDIFF_TRACES")]))]
TRACES = sorted(
    {path.name: path for folder in FOLDERS for path in folder.glob("*.json.gz")}.values()
)
DEVICE = {"kernel", "gpu_memcpy", "gpu_memset", "Kernel", "Memcpy", "Memset"}
LAUNCH = {"cuda_runtime", "cuda_driver", "Runtime"}
HOST = {"cpu_op", "user_annotation", "Operator"}


@pytest.fixture(
    name="read", params=TRACES, ids=lambda path: path.name.partition(".")[0], scope="module"
)
def _read(request: pytest.FixtureRequest) -> tuple[Capture, list[dict[str, Any]]]:
    raw = json.loads(gzip.decompress(request.param.read_bytes()))
    events = raw if isinstance(raw, list) else raw["traceEvents"]
    complete = [event for event in events if event.get("ph") == "X"]
    return import_traces(request.param, None, Asked(whole=True)).left, complete


def test_counts_and_device_time(read: tuple[Capture, list[dict[str, Any]]]) -> None:
    """Every kernel and every launch of the file is there, and the device time to the nanosecond."""
    capture, events = read
    device = [event for event in events if event.get("cat") in DEVICE]
    assert len(capture.kernels) == len(device)
    assert len(capture.launches) == sum(event.get("cat") in LAUNCH for event in events)
    expected = sum(round(Decimal(str(event["dur"])) * 1000) for event in device)
    assert sum(kernel.duration_ns for kernel in capture.kernels) == expected


def test_kernels_have_launch_and_op(read: tuple[Capture, list[dict[str, Any]]]) -> None:
    """At least 98 of 100 kernels whose launch is in the file have it, and the op call around it unless none can be."""
    capture, events = read
    known = {
        event.get("args", {}).get("correlation") for event in events if event.get("cat") in LAUNCH
    }
    device = [event for event in events if event.get("cat") in DEVICE]
    linkable = sum(
        (event["args"].get("correlation") or 0) > 0 and event["args"]["correlation"] in known
        for event in device
    )
    linked = [kernel for kernel in capture.kernels if kernel.launch is not None]
    assert len(linked) >= 0.98 * linkable
    # Kernels of a replayed graph and generated kernels have no op call; nor has a launch that no op is around.
    names = {launch.id: launch.name for launch in capture.launches}
    asked = [
        kernel
        for kernel in linked
        if kernel.kind != "triton" and "GraphLaunch" not in names[kernel.launch or 0]
    ]
    alone = [kernel for kernel in asked if kernel.op_call is None]
    correlations = {launch.id: launch.correlation for launch in capture.launches}
    bare = bare_launches(events)
    in_an_op = [it for it in alone if correlations[it.launch or 0] not in bare]
    assert len(in_an_op) <= 0.02 * len(asked)


def bare_launches(events: list[dict[str, Any]]) -> set[int]:
    """Return the correlations of launches that lie in no op of their thread."""
    ops: dict[tuple[object, object], list[tuple[float, float]]] = defaultdict(list)
    for event in events:
        if event.get("cat") in {"cpu_op", "Operator"}:
            start = float(event["ts"])
            ops[event["pid"], event["tid"]].append((start, start + float(event.get("dur", 0))))
    launches = [event for event in events if event.get("cat") in LAUNCH and "args" in event]
    launches.sort(key=lambda event: (str(event["pid"]), str(event["tid"]), float(event["ts"])))
    found, threads = set(), {thread: sorted(spans) for thread, spans in ops.items()}
    latest: dict[tuple[object, object], tuple[int, float]] = {}
    for event in launches:
        thread, moment = (event["pid"], event["tid"]), float(event["ts"])
        spans = threads.get(thread, [])
        index, end = latest.get(thread, (0, 0.0))
        while index < len(spans) and spans[index][0] <= moment:
            index, end = index + 1, max(end, spans[index][1])
        latest[thread] = index, end
        if end <= moment:
            found.add(event["args"].get("correlation"))
    return found


def test_device_time_by_op(read: tuple[Capture, list[dict[str, Any]]]) -> None:
    """The self device time of each op is that of the kernels it launched, counted from the raw events; no kernel twice."""
    capture, events = read
    counted = _launched_time(events)
    outside = counted.pop("", 0)
    assert {
        stat.name: stat.device_self_ns for stat in capture.op_stats if stat.device_self_ns
    } == counted
    total = sum(kernel.duration_ns for kernel in capture.kernels if kernel.kind != "cpp")
    assert sum(stat.device_self_ns for stat in capture.op_stats) == total - outside
    for stat in capture.op_stats:
        assert stat.host_self_ns <= stat.host_total_ns
        assert stat.device_self_ns <= stat.device_total_ns


def _launched_time(events: list[dict[str, Any]]) -> Counter[str]:
    """Return the time of the kernels that each op or annotation launched, "" for those that none did, by looking at all."""
    launches: dict[object, dict[str, Any]] = {}
    for event in sorted(events, key=_start):
        if event.get("cat") in LAUNCH:
            launches.setdefault(event.get("args", {}).get("correlation"), event)
    hosts: dict[tuple[object, object], list[tuple[int, int, str]]] = defaultdict(list)
    for event in events:
        if event.get("cat") in HOST:
            entry = (_start(event), _start(event) + _duration(event), str(event["name"]))
            hosts[event["pid"], event["tid"]].append(entry)
    found = Counter[str]()
    for kernel in (event for event in events if event.get("cat") in DEVICE):
        correlation = kernel["args"].get("correlation")
        launch = launches.get(correlation) if (correlation or 0) > 0 else None
        name = "" if launch is None else _innermost(hosts[launch["pid"], launch["tid"]], launch)
        found[name] += _duration(kernel)
    return +found


def _innermost(hosts: list[tuple[int, int, str]], launch: dict[str, Any]) -> str:
    """Return the name of the shortest op or annotation of the launch's thread that holds it, "" if none does."""
    begin, finish = _start(launch), _start(launch) + _duration(launch)
    inside = [
        (end - start, name) for start, end, name in hosts if start <= begin < end >= finish - 1_000
    ]
    name = min(inside, default=(0, ""))[1]
    return "ProfilerStep*" if name.startswith("ProfilerStep#") else name


def _start(event: dict[str, Any]) -> int:
    return round(Decimal(str(event["ts"])) * 1000)


def _duration(event: dict[str, Any]) -> int:
    return round(Decimal(str(event.get("dur", 0))) * 1000)


def test_a_pair_from_two_vendors_is_aligned() -> None:
    """The same model on an H100 and an MI300: every op call of the one is found in the other."""
    run = import_traces(
        DATA / "tl-h100-bert-small.json.gz", DATA / "tl-mi300-bert-small.json.gz", Asked()
    )
    diff = analyse(run)
    check(run, diff)
    assert {fate.fate for fate in diff.fates.values()} == {"kept"}
    assert {run.left.basis, run.right.basis} == {"imported"}


def test_the_same_file_twice_is_the_same_run() -> None:
    """Nothing in an import depends on time or hashing."""
    path = DATA / "tl-h100-bert-small.json.gz"
    assert import_traces(path, path, Asked()) == import_traces(path, path, Asked())


@pytest.mark.parametrize("seed", range(40))
def test_mutated_traces_end_in_an_answer_or_an_error(tmp_path: Path, seed: int) -> None:
    """Whatever happens to the bytes, fields and order of a real trace: a run that obeys the law, or a CompdiffError."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    data = gzip.decompress((DATA / "tl-torch-compile-triton.json.gz").read_bytes())
    path = tmp_path / "mutated.json"
    path.write_bytes(mutated(data, chance))
    with contextlib.suppress(CompdiffError):
        run = import_traces(path, None, Asked(whole=chance.random() < 0.5))
        check(run, analyse(run))


def mutated(data: bytes, chance: random.Random) -> bytes:
    """Return the trace with some events dropped, repeated, moved or with other values, or with some bytes changed."""
    if chance.random() < 0.4:
        changed = bytearray(data)
        for _ in range(chance.randint(1, 20)):
            changed[chance.randrange(len(changed))] = chance.randrange(256)
        return bytes(changed)[
            : len(changed) if chance.random() < 0.7 else chance.randrange(len(changed))
        ]
    raw = json.loads(data)
    events = raw["traceEvents"]
    values: list[object] = [None, 0, -1, 1e300, "text", [], {}, True, -5.5, "NaN", 2**70]
    for _ in range(60):
        event = chance.choice(events)
        target = event.get("args", {}) if chance.random() < 0.5 else event
        if isinstance(target, dict) and target:
            target[chance.choice(sorted(target))] = chance.choice(values)
    chance.shuffle(events)
    raw["traceEvents"] = events[: chance.randint(1, len(events))] + events[: chance.randint(0, 30)]
    return json.dumps(raw).encode()
