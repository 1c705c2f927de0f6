"""Texts of estimates, each with the word in it. In: kernels, Work. Out: one line each, never mixed with measured times."""

from compdiff.model import Diff, Kernel, Resources, Rewrite, Run
from compdiff.report.quantities import (
    UNKNOWN,
    count_text,
    duration_text,
    percent_text,
    ratio_text,
    size_text,
)
from compdiff.work import Work, rewrite_work, side_work

_FLOPS = ((1e15, "PFLOP"), (1e12, "TFLOP"), (1e9, "GFLOP"), (1e6, "MFLOP"), (1e3, "kFLOP"))


def kernel_ns(kernel: Kernel) -> int:
    """Return a kernel's time for shares within its table: the estimate where there is one, else the profiled time."""
    return kernel.estimate.ns if kernel.estimate is not None else kernel.duration_ns


def kernel_estimate_text(kernel: Kernel) -> str:
    """Return a kernel's estimate: `memory-bound, 96.0 MiB read, 32.0 MiB written, 137 GFLOP`; "" for none."""
    estimate = kernel.estimate
    if estimate is None:
        return ""
    parts = [
        f"{estimate.bound}-bound",
        f"{size_text(estimate.bytes_read)} read",
        f"{size_text(estimate.bytes_written)} written",
        flops_text(estimate.flops) if estimate.flops else "",
    ]
    return ", ".join(part for part in parts if part)


def resources_parts(resources: Resources | None) -> list[str]:
    """Return what a compiled kernel takes beyond registers and shared memory: warps, spills, occupancy, configuration."""
    if resources is None:
        return []
    more = resources.candidates - 1
    choice = f", first of {resources.candidates} that a GPU would time" if more else ""
    return [
        count_text(resources.warps, "warp"),
        f"{size_text(resources.spill_bytes)} spilled" if resources.spill_bytes else "no spills",
        f"occupancy {percent_text(resources.occupancy)}, limited by {resources.limited_by}",
        f"{resources.config}{choice}" if resources.config else "",
    ]


def flops_text(flops: int) -> str:
    """Return a number of floating-point operations: `137 GFLOP`."""
    for scale, unit in _FLOPS:
        if flops >= scale:
            return f"{ratio_text(flops / scale)} {unit}"
    return f"{flops} FLOP"


def side_clause(run: Run) -> str:
    """Return the estimated device times of both sides for the verdict: `estimated device time 12 us to 8 us (1.5x less)`."""
    left, right = side_work(run.left), side_work(run.right)
    if left is None or right is None:
        return ""
    return f"estimated device time {duration_text(left.ns)} -> {duration_text(right.ns)} ({_change(left.ns, right.ns)})"


def rewrite_text(run: Run, diff: Diff, rewrite: Rewrite) -> str:
    """Return what a rewrite is estimated to save: memory traffic, device time, FLOPs where they change; "" if unknown."""
    works = rewrite_work(run, diff, rewrite)
    if works is None or not (works[0].kernels or works[1].kernels):
        return ""
    before, after = works
    traffic = f"{size_text(before.bytes_moved)} -> {size_text(after.bytes_moved)}"
    parts = [
        f"estimated memory traffic {traffic} ({saved_text(before, after)})",
        f"device time {duration_text(before.ns)} -> {duration_text(after.ns)}",
        f"FLOPs {flops_text(before.flops)} -> {flops_text(after.flops)}"
        if before.flops != after.flops
        else "",
    ]
    return "; ".join(part for part in parts if part)


def saved_text(before: Work, after: Work) -> str:
    """Return the change of memory traffic in words: `64.0 MiB saved`, `32.0 MiB more`, `the same`."""
    saved = before.bytes_moved - after.bytes_moved
    if not saved:
        return "the same"
    return f"{size_text(saved)} saved" if saved > 0 else f"{size_text(-saved)} more"


def work_texts(work: Work | None) -> tuple[str, str, str]:
    """Return (device time, memory traffic, FLOPs) of a side as texts; dashes where unknown."""
    if work is None:
        return UNKNOWN, UNKNOWN, UNKNOWN
    return duration_text(work.ns), size_text(work.bytes_moved), flops_text(work.flops)


def _change(before: int, after: int) -> str:
    if before == after or not before or not after:
        return "the same" if before == after else "-"
    if after < before:
        return f"{ratio_text(before / after)}x less"
    return f"{ratio_text(after / before)}x more"
