"""Matches what a CUDA graph captured with what it replays. In: traces, launches of both sides. Out: traces with items.

While a graph is captured its launches run no kernel; when it is replayed one call launches all its kernels. A trace of the
capture has the op calls and a trace of the replay the kernels, in the same order: nothing else ties them.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from compdiff.align.items import in_order, right_kernel
from compdiff.align.traces import Alignment
from compdiff.kernels import replays_a_graph, runs_kernels
from compdiff.model import Capture, Kernel, Launch

# What `OpTrace.by` says of an op call whose launches a graph captured, and of one that only the host did meanwhile.
REPLAYED = "launches that a graph captured, in the order of the kernels that it replays"
ON_THE_HOST = "made while a graph was captured, and launched nothing"
_OTHERS = 16
"""How many launches beside the graph's own may lie at the ends of a capture."""


def match_replays(result: Alignment) -> None:
    """Give left op calls whose launches were captured the right kernels that replay them.

    Nothing is matched where the numbers differ by much, or where a launch and a kernel of the same place have other names.
    """
    captured = captured_launches(result.left)
    owners: dict[int, set[str]] = defaultdict(set)
    for kernels in replayed_kernels(result.right):
        first = _offset(captured, kernels)
        if first is None:
            continue
        matched = captured[first : first + len(kernels)]
        for number, (launch, kernel) in enumerate(zip(matched, kernels, strict=True), start=1):
            item = right_kernel(kernel.id)
            if launch.op_call is None:
                place = f"launch {number:,} of {len(kernels):,}"
                result.replays[item] = f"replays {place} that the graph captured outside any op"
            else:
                owners[launch.op_call].add(item)
    for trace in result.traces:
        items = owners.get(trace.call.id)
        if items:
            trace.items, trace.by, trace.certainty = in_order(items), REPLAYED, "likely"
    if owners:
        _mark_host_work(result, owners)


def captured_launches(capture: Capture) -> list[Launch]:
    """Return the launches that ran no kernel, in order: those of a graph that was being captured."""
    with_kernels = {kernel.launch for kernel in capture.kernels}
    found = [
        launch
        for launch in capture.launches
        if launch.id not in with_kernels
        and runs_kernels(launch.name)
        and not replays_a_graph(launch.name)
    ]
    return sorted(found, key=lambda launch: launch.start_ns)


def replayed_kernels(capture: Capture) -> list[list[Kernel]]:
    """Return the kernels of each launch of a graph, in the order in which they started."""
    graphs = {launch.id for launch in capture.launches if replays_a_graph(launch.name)}
    found: dict[int, list[Kernel]] = defaultdict(list)
    for kernel in capture.kernels:
        if kernel.launch is not None and kernel.launch in graphs:
            found[kernel.launch].append(kernel)
    return [sorted(found[launch], key=lambda kernel: kernel.start_ns) for launch in sorted(found)]


def _offset(captured: Sequence[Launch], kernels: Sequence[Kernel]) -> int | None:
    """Return from which captured launch on all names agree with those of the kernels; None for nowhere or several."""
    spare = len(captured) - len(kernels)
    if not 0 <= spare <= _OTHERS:
        return None
    fitting = [
        first
        for first in range(spare + 1)
        if all(
            launch.kernel in {"", kernel.name}
            for launch, kernel in zip(captured[first:], kernels, strict=False)
        )
    ]
    return fitting[0] if len(fitting) == 1 else None


def _mark_host_work(result: Alignment, owners: Iterable[int]) -> None:
    """Mark the op calls between those of the graph that ran nothing on the device."""
    first, last = min(owners), max(owners)
    launching = {it.op_call for it in result.left.launches if runs_kernels(it.name)}
    for trace in result.traces[first : last + 1]:
        if trace.call.id not in launching and not trace.items:
            trace.by = ON_THE_HOST
