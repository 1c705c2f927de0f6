"""Texts of estimates, each with the word in it. In: kernels, Work. Out: one line each, never mixed with measured times."""

from collections.abc import Callable, Iterable

import msgspec

from compdiff.model import Kernel, Resources, Run
from compdiff.report.quantities import (
    UNKNOWN,
    count_text,
    duration_text,
    flops_text,
    percent_text,
    ratio_text,
    size_text,
)
from compdiff.work import NO_WORK, Work, side_work

# Name, field of Work, its text, what it is.
_SUMS: tuple[tuple[str, str, Callable[[int], str], str], ...] = (
    ("Device time", "ns", duration_text, "roofline, summed over kernels"),
    ("Memory traffic", "bytes_moved", size_text, "each tensor read and written once"),
    ("FLOPs", "flops", flops_text, "by torch's formulas"),
)


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


def side_clause(run: Run) -> str:
    """Return the estimated device times of both sides for the verdict: `estimated device time 12 us to 8 us (1.5x less)`."""
    left, right = side_work(run.left), side_work(run.right)
    if left is None or right is None:
        return ""
    return f"estimated device time {duration_text(left.ns)} -> {duration_text(right.ns)} ({_change(left.ns, right.ns)})"


def summed(works: Iterable[tuple[Work, Work] | None]) -> tuple[Work, Work] | None:
    """Return the estimated work before and after several rewrites; None where nothing is estimated."""
    pairs = [pair for pair in works if pair is not None]
    if not pairs:
        return None
    before, after = zip(*pairs, strict=True)
    return sum(before, NO_WORK), sum(after, NO_WORK)


def rewrite_text(works: tuple[Work, Work] | None) -> str:
    """Return what a rewrite is estimated to save: memory traffic, device time, FLOPs where they change; "" if unknown."""
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


class Estimated(msgspec.Struct, frozen=True):
    """One sum of a plan's estimates as texts: dashes for a side that has none."""

    name: str
    left: str
    right: str
    change: str
    note: str


def estimated_sums(run: Run) -> tuple[Estimated, ...]:
    """Return the estimated device time, memory traffic and FLOPs of both sides; none unless a side is planned."""
    left, right = side_work(run.left), side_work(run.right)
    if left is None and right is None:
        return ()
    return tuple(
        Estimated(
            name=f"{name}, estimated",
            left=UNKNOWN if left is None else text(getattr(left, field)),
            right=UNKNOWN if right is None else text(getattr(right, field)),
            change=""
            if left is None or right is None
            else _change(getattr(left, field), getattr(right, field)),
            note=note,
        )
        for name, field, text, note in _SUMS
    )


def _change(before: int, after: int) -> str:
    if before == after or not before or not after:
        return "same" if before == after else UNKNOWN
    if after < before:
        return f"{ratio_text(before / after)}x less"
    return f"{ratio_text(after / before)}x more"
