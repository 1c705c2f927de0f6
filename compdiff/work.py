"""How much work kernels are estimated to do. In: a Run's kernels. Out: sums of FLOPs, bytes and times, by side and rewrite.

Estimates only: a kernel without one makes a sum unknown, and no measured time enters.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from compdiff.model import Capture, Diff, Kernel, Rewrite, Run


@dataclass(frozen=True, slots=True)
class Work:
    """The estimated work of some kernels: bytes read and written once each, nanoseconds by the roofline."""

    kernels: int
    flops: int
    bytes_moved: int
    ns: int


def work_of(kernels: Iterable[Kernel]) -> Work | None:
    """Return the summed estimates of kernels; None when one of them has none."""
    found = list(kernels)
    estimates = [kernel.estimate for kernel in found if kernel.estimate is not None]
    if len(estimates) < len(found):
        return None
    return Work(
        kernels=len(found),
        flops=sum(estimate.flops for estimate in estimates),
        bytes_moved=sum(estimate.bytes_read + estimate.bytes_written for estimate in estimates),
        ns=sum(estimate.ns for estimate in estimates),
    )


def side_work(capture: Capture) -> Work | None:
    """Return the estimated work of a planned side; None for any other."""
    return work_of(capture.kernels) if capture.basis == "planned" else None


def rewrite_work(run: Run, diff: Diff, rewrite: Rewrite) -> tuple[Work, Work] | None:
    """Return the estimated work of the kernels before and after a rewrite; None unless both sides are planned.

    After are the right kernels, and those that the right op calls launch. Before are the kernels of the op calls that the
    rewrite explains, and of those shared ones whose whole work is in the kernels after.
    """
    if run.left.basis != "planned" or run.right.basis != "planned":
        return None
    after = set(rewrite.right)
    partly = {
        op
        for item, origin in diff.origins.items()
        if item not in after and _launcher(run, item) not in after
        for op in origin.op_calls
    }
    before = {*rewrite.left, *(op for op in rewrite.shared if op not in partly)}
    left = work_of(kernel for kernel in run.left.kernels if f"e{kernel.op_call}" in before)
    right = work_of(
        kernel
        for kernel in run.right.kernels
        if f"k{kernel.id}" in after or f"c{kernel.op_call}" in after
    )
    return (left, right) if left is not None and right is not None else None


def _launcher(run: Run, item: str) -> str:
    """Return the op call that launches a right kernel, "" for any other item."""
    if not item.startswith("k"):
        return ""
    op_call = run.right.kernels[int(item[1:])].op_call
    return "" if op_call is None else f"c{op_call}"
