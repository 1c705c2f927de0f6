"""Reading one step of a file: the capture is the same as where the whole file becomes events."""

import gzip
import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compdiff import kineto
from compdiff.importers.capture import make_capture
from compdiff.importers.steps import Window, choose_window
from compdiff.model import Capture
from tests.importers.traces import DATA, Fields, event, kernel, launch, trace_bytes

STEPPED = ["hta-alexnet", "tl-h100-bert-small", "tl-mi300-bert-small"]


def both(data: bytes, window: Window) -> list[Capture]:
    """Return the capture of a window from the part that bears on it, and from the whole file; odd things left out."""
    read = kineto.TraceData(data)
    traces = [read.part(window.start_ns, window.end_ns), read.whole()]
    return [_without_odd(make_capture(trace, window, "eager")) for trace in traces]


def _without_odd(capture: Capture) -> Capture:
    """These are counted in what was read."""
    kept = tuple(warning for warning in capture.warnings if warning.id != "odd-trace")
    return msgspec.structs.replace(capture, warnings=kept)


def _events() -> st.SearchStrategy[list[Fields]]:
    """Ops that nest, touch or cross on two threads, launches, and kernels with and without one."""
    times = {"start_us": st.integers(0, 60), "duration_us": st.integers(0, 40)}
    ops = st.builds(event, st.sampled_from(["aten::mm", "aten::linear"]), **times)
    numbers = st.integers(0, 8)
    launches = st.builds(launch, st.integers(0, 60), numbers)
    kernels = st.builds(kernel, st.just("gemm"), **times, correlation=st.none() | numbers)
    threads = st.builds(lambda made, tid: {**made, "tid": tid}, ops | launches, st.integers(1, 2))
    return st.lists(threads | kernels, max_size=40)


@given(_events(), st.integers(0, 60), st.integers(1, 40))
def test_a_part_gives_the_capture_of_the_whole(
    events: list[Fields], start: int, length: int
) -> None:
    """Nothing around, inside or launched by what is in the window is lost, and nothing else comes in."""
    part, whole = both(trace_bytes(*events), Window(start * 1000, (start + length) * 1000))
    assert part == whole


@pytest.mark.parametrize("name", STEPPED)
def test_a_step_of_a_real_trace(name: str) -> None:
    """The same for files as exporters wrote them."""
    path = DATA / f"{name}.json.gz"
    data = gzip.decompress(path.read_bytes())
    steps = kineto.TraceData(data).named(kineto.PROFILER_STEP)
    window = choose_window(steps) if steps else Window(0, 1 << 62)
    part, whole = both(data, window)
    assert part == whole


def test_times_kept_as_text_are_read_whole() -> None:
    """Where doubles do not hold the times, they do not say either what is in the window."""
    old = [event("aten::mm", 1.6e15 + 10.25 * number, 5.5) for number in range(4)]
    window = Window(1_600_000_000_000_010_000, 1_600_000_000_000_020_000)
    part, whole = both(json.dumps({"traceEvents": old}).encode(), window)
    assert part == whole
    assert len(part.op_calls) == 1
