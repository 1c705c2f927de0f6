"""Kineto's Chrome-trace JSON: `read` gives a Trace. No specification says what a file holds; docs/traces.md does."""

from compdiff.kineto.decode import Trace, TraceData, decode, read
from compdiff.kineto.events import (
    DEVICE_CATEGORIES,
    LAUNCH_CATEGORIES,
    PROFILER_STEP,
    STEP_NAME,
    Event,
    annotations_around,
    nanoseconds,
    nest,
    thread_numbers,
)
from compdiff.kineto.stats import op_stats, self_ns

__all__ = [
    "DEVICE_CATEGORIES",
    "LAUNCH_CATEGORIES",
    "PROFILER_STEP",
    "STEP_NAME",
    "Event",
    "Trace",
    "TraceData",
    "annotations_around",
    "decode",
    "nanoseconds",
    "nest",
    "op_stats",
    "read",
    "self_ns",
    "thread_numbers",
]
