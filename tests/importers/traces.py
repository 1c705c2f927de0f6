"""Small traces in one line each. In: what a test cares about. Out: events, files, captures."""

import json
from pathlib import Path

from compdiff import kineto
from compdiff.importers.capture import make_capture
from compdiff.importers.steps import choose_window, whole_window
from compdiff.model import Capture

DATA = Path(__file__).resolve().parents[1] / "data" / "traces"
Fields = dict[str, object]


def event(name: str, start_us: float, duration_us: float, **fields: object) -> Fields:
    """Return a complete event, an op on thread 1 unless told otherwise."""
    made: Fields = {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1}
    return {**made, "ts": start_us, "dur": duration_us, **fields}


def launch(
    start_us: float, correlation: int, name: str = "cudaLaunchKernel", **fields: object
) -> Fields:
    """Return a launch of one microsecond."""
    return event(name, start_us, 1, cat="cuda_runtime", args={"correlation": correlation}, **fields)


def kernel(
    name: str, start_us: float, duration_us: float, correlation: int | None, **arguments: object
) -> Fields:
    """Return a kernel on stream 7."""
    args = {"stream": 7, **arguments}
    if correlation is not None:
        args["correlation"] = correlation
    return event(name, start_us, duration_us, cat="kernel", pid=0, tid=7, args=args)


def trace_bytes(*events: Fields, **fields: object) -> bytes:
    """Return a trace file."""
    return json.dumps({"traceEvents": list(events), **fields}).encode()


def captured(*events: Fields, whole: bool = True) -> Capture:
    """Return the capture of a trace: all of it, or its steady step."""
    trace = kineto.read(trace_bytes(*events))
    window = whole_window(trace.events) if whole else choose_window(trace.events)
    return make_capture(trace, window, "eager")


def said(capture: Capture) -> dict[str, str]:
    """Return the warnings of a capture by id."""
    return {warning.id: warning.text for warning in capture.warnings}
