"""How much work kernels are estimated to do. In: a Run's kernels. Out: sums of FLOPs, bytes and times, by side and rewrite.

Estimates only: a kernel without one makes a sum unknown, and no measured time enters.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from compdiff.model import Capture, Diff, Kernel, Origin, Run


@dataclass(frozen=True, slots=True)
class Work:
    """The estimated work of some kernels: bytes read and written once each, nanoseconds by the roofline."""

    kernels: int
    flops: int
    bytes_moved: int
    ns: int

    def __add__(self, other: "Work") -> "Work":
        """Return the work of both."""
        return Work(
            kernels=self.kernels + other.kernels,
            flops=self.flops + other.flops,
            bytes_moved=self.bytes_moved + other.bytes_moved,
            ns=self.ns + other.ns,
        )


NO_WORK = Work(kernels=0, flops=0, bytes_moved=0, ns=0)


def work_of(kernels: Iterable[Kernel]) -> Work | None:
    """Return the summed estimates of kernels on the device; None when one of them has none."""
    found = [kernel for kernel in kernels if kernel.kind != "cpp"]
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


def rewrite_works(run: Run, diff: Diff) -> dict[str, tuple[Work, Work]]:
    """Return the estimated work before and after each rewrite, by its id; empty unless both sides are planned.

    Every kernel of both sides counts once: for one rewrite, or, under the id "", for what stayed as it was.
    """
    if run.left.basis != "planned" or run.right.basis != "planned":
        return {}
    works = {}
    for rewrite, (before, after) in kernels_by_rewrite(run, diff).items():
        pair = work_of(before), work_of(after)
        if pair[0] is not None and pair[1] is not None:
            works[rewrite] = (pair[0], pair[1])
    return works


def kernels_by_rewrite(run: Run, diff: Diff) -> dict[str, tuple[list[Kernel], list[Kernel]]]:
    """Return the left and right kernels that count for each rewrite, by its id; "" has those that stayed as they were."""
    right = _right_owners(run, diff)
    left = _left_owners(run, diff, right)
    found: dict[str, tuple[list[Kernel], list[Kernel]]] = {}
    for kernel in run.left.kernels:
        # In a comparison a left kernel without op call is an item of its own.
        item = f"ek{kernel.id}"
        item = item if item in diff.fates else f"e{kernel.op_call}"
        found.setdefault(left.get(item, ""), ([], []))[0].append(kernel)
    for kernel in run.right.kernels:
        found.setdefault(right[f"k{kernel.id}"], ([], []))[1].append(kernel)
    return found


def _right_owners(run: Run, diff: Diff) -> dict[str, str]:
    """Return the rewrite that each right kernel counts for, "" for none.

    It is the one that explains most of the op calls whose work the kernel does, views aside. A library kernel that does a
    kept op call counts for none: what was folded into it costs it nothing. A kernel that was introduced counts for what
    names it.
    """
    launching = {f"e{kernel.op_call}" for kernel in run.left.kernels}
    named = {item: rewrite.id for rewrite in reversed(diff.rewrites) for item in rewrite.right}
    owners = {}
    for kernel in run.right.kernels:
        item = f"k{kernel.id}"
        done = _first_done(diff.origins[item])
        costly = [op for op in done if op in launching] or done
        by = Counter(diff.fates[op].rewrite or "" for op in costly)
        kept = by.pop("", 0)
        if kept and (kernel.op_call is not None or not by):
            owners[item] = ""
        else:
            owners[item] = by.most_common(1)[0][0] if by else named.get(item, "")
    return owners


def _left_owners(run: Run, diff: Diff, right: Mapping[str, str]) -> dict[str, str]:
    """Return the rewrite that the kernels of each left op call count for, "" for none.

    It is that of the first right kernel which does the op call's work now, a library kernel before a generated one, since
    beside it that does only the rest. An op call that no kernel, or only a kept one, does counts for what explains it.
    """
    first_last = sorted(
        run.right.kernels, key=lambda kernel: (kernel.op_call is not None, -kernel.id)
    )
    homes = {
        op: right[f"k{kernel.id}"]
        for kernel in first_last
        for op in _first_done(diff.origins[f"k{kernel.id}"])
    }
    return {op: homes.get(op) or fate.rewrite or "" for op, fate in diff.fates.items()}


def _first_done(origin: Origin) -> tuple[str, ...]:
    """Return the op calls whose work an item does and does not do again; all, where it does all of them again."""
    return tuple(op for op in origin.op_calls if op not in origin.recomputed) or origin.op_calls
