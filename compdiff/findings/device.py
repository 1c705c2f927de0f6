"""What a device's timeline shows. In: a run's captures on a GPU. Out: what was seen, each with a side, numbers and items.

Sources: the CUDA runtime's and PyTorch profiler's names of calls and ops, as they stand in traces.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from statistics import median

from compdiff.align.items import item_id
from compdiff.findings.seen import Seen, sides
from compdiff.kernels import replays_a_graph
from compdiff.lanes.device import busy_share, first_wait_ns, on_device
from compdiff.model import Capture, Diff, Kernel, OpCall, Run

_PERCENT = 100
_BUSY_SHARE_OF_OVERHEAD = 0.5
_BUSY_SHARE_OF_WORK = 0.9
# About what one launch costs the CPU: a kernel that is shorter cannot hide it.
_LAUNCH_NS = 5_000
_MANY_KERNELS = 8
_WIDE = 3.0
_MANY_CALLS = 200
_START_SHARE = 0.2
_SHOWN = 20
_COPIES = ("copy_", "_to_copy", "clone", "contiguous", "copy", "cat", "stack", "to")
_WAITING_OPS = {
    "_local_scalar_dense": "reads a value from the device",
    "item": "reads a value from the device",
    "is_nonzero": "reads a value from the device",
    "nonzero": "asks how many values are not zero",
    "masked_select": "asks how many values are selected",
    "unique_dim": "asks how many values differ",
    "_unique2": "asks how many values differ",
    "unique_consecutive": "asks how many values differ",
    "repeat_interleave": "asks how long the result is",
    "equal": "compares on the device and waits",
}
_ALLOCATIONS = ("cudaMalloc", "cudaFree", "hipMalloc", "hipFree", "cuMemAlloc", "cuMemFree")


def overhead_bound(run: Run, _: Diff) -> Iterator[Seen]:
    """See a device that is busy for less than half of the step, on either side."""
    for side, capture in sides(run):
        share = busy_share(capture)
        if share is not None and share < _BUSY_SHARE_OF_OVERHEAD:
            yield Seen(side, {"busy_percent": round(_PERCENT * share, 1)})


def device_bound(run: Run, _: Diff) -> Iterator[Seen]:
    """See a device that is busy for nearly all of the step, and which kernel takes most of it."""
    for side, capture in sides(run):
        share = busy_share(capture)
        if share is None or share < _BUSY_SHARE_OF_WORK:
            continue
        times = Counter[str]()
        for kernel in capture.kernels:
            times[kernel.name] += kernel.duration_ns
        name, longest = times.most_common(1)[0]
        numbers: dict[str, int | float | str] = {
            "busy_percent": round(_PERCENT * share, 1),
            "longest": name,
            "longest_percent": round(_PERCENT * longest / max(1, times.total()), 1),
        }
        yield Seen(side, numbers)


def hidden_copies(run: Run, diff: Diff) -> Iterator[Seen]:
    """See copies within the device that an op launches which is no copy; seeds of a bias are told apart."""
    seeds = {
        item
        for rewrite in diff.rewrites
        if rewrite.outcome == "seeded-output"
        for item in rewrite.right
    }
    for side, capture in sides(run):
        names = {call.id: call.name for call in capture.op_calls}
        found = [
            item_id(kernel, side)
            for kernel in on_device(capture)
            if kernel.kind == "memcpy"
            and "DtoD" in kernel.name
            and kernel.op_call is not None
            and _base(names[kernel.op_call]) not in _COPIES
        ]
        found = [item for item in found if item not in seeds]
        if found:
            yield Seen(side, {"count": len(found)}, tuple(found[:_SHOWN]))


def waiting_ops(run: Run, _: Diff) -> Iterator[Seen]:
    """See op calls that make the CPU wait for the device."""
    for side, capture in sides(run):
        if not on_device(capture):
            continue
        found = [call for call in capture.op_calls if _waits(call)]
        if found:
            first = _WAITING_OPS[_base(found[0].name)]
            numbers: dict[str, int | float | str] = {"count": len(found), "first": first}
            yield Seen(side, numbers, tuple(item_id(call, side) for call in found[:_SHOWN]))


def _waits(call: OpCall) -> bool:
    on_host = all(meta.device == "cpu" for meta in call.inputs) and bool(call.inputs)
    return _base(call.name) in _WAITING_OPS and not on_host


def pageable_copies(run: Run, _: Diff) -> Iterator[Seen]:
    """See copies between host and device through pageable memory."""
    for side, capture in sides(run):
        found = [kernel for kernel in capture.kernels if "Pageable" in kernel.name]
        if found:
            numbers: dict[str, int | float | str] = {
                "count": len(found),
                "total_ns": sum(kernel.duration_ns for kernel in found),
            }
            yield Seen(side, numbers, tuple(item_id(kernel, side) for kernel in found[:_SHOWN]))


def small_kernels(run: Run, _: Diff) -> Iterator[Seen]:
    """See many kernels that are shorter than their launch, each launched on its own."""
    for side, capture in sides(run):
        kernels = on_device(capture)
        graphs = any(replays_a_graph(launch.name) for launch in capture.launches)
        if capture.basis == "planned" or graphs or len(kernels) < _MANY_KERNELS:
            continue
        short = [kernel for kernel in kernels if kernel.duration_ns < _LAUNCH_NS]
        if 2 * len(short) > len(kernels):
            numbers: dict[str, int | float | str] = {
                "kernels": len(kernels),
                "shorter_than_a_launch": len(short),
                "median_ns": round(median(kernel.duration_ns for kernel in kernels)),
            }
            yield Seen(side, numbers)


def launch_bound_plan(run: Run, _: Diff) -> Iterator[Seen]:
    """See a plan most of whose kernels would be shorter than the shortest kernel there is."""
    for side, capture in sides(run):
        bounds = [kernel.estimate.bound for kernel in capture.kernels if kernel.estimate]
        if capture.basis == "planned" and 2 * bounds.count("launch") > len(bounds):
            yield Seen(side, {"kernels": len(bounds), "launch_bound": bounds.count("launch")})


def wide_distributions(run: Run, _: Diff) -> Iterator[Seen]:
    """See kernels, launched many times alike, whose slowest launch takes several times the typical one."""
    for side, capture in sides(run):
        wide = sorted(_wide(capture), key=lambda found: found[1] - found[0].duration_ns)
        if not wide:
            continue
        slowest, typical = wide[0]
        numbers: dict[str, int | float | str] = {
            "kernels": len(wide),
            "widest": slowest.name,
            "median_ns": round(typical),
            "slowest_ns": slowest.duration_ns,
        }
        yield Seen(side, numbers, tuple(item_id(kernel, side) for kernel, _ in wide[:_SHOWN]))


def _wide(capture: Capture) -> Iterator[tuple[Kernel, float]]:
    """Yield (slowest launch, typical time) of each kernel with a wide distribution."""
    alike: dict[tuple[object, ...], list[Kernel]] = defaultdict(list)
    for kernel in on_device(capture):
        alike[kernel.name, kernel.grid, kernel.block].append(kernel)
    for group in alike.values():
        typical = median(kernel.duration_ns for kernel in group)
        slowest = max(group, key=lambda kernel: kernel.duration_ns)
        if len(group) >= _MANY_KERNELS and slowest.duration_ns > _WIDE * typical:
            yield slowest, typical


def many_calls(run: Run, _: Diff) -> Iterator[Seen]:
    """See an op that is called very often."""
    for side, capture in sides(run):
        for name, count in Counter(call.name for call in capture.op_calls).items():
            if count >= _MANY_CALLS and 2 * count > len(capture.op_calls):
                yield Seen(side, {"op": name, "count": count, "of": len(capture.op_calls)})


def late_starts(run: Run, _: Diff) -> Iterator[Seen]:
    """See a step whose first kernel waits for the CPU."""
    for side, capture in sides(run):
        wait, step = first_wait_ns(capture), capture.profile_wall_ns
        if wait is not None and step and wait > _START_SHARE * step:
            yield Seen(side, {"wait_ns": wait, "step_ns": step})


def allocations(run: Run, _: Diff) -> Iterator[Seen]:
    """See calls of the device's allocator in a warm step."""
    for side, capture in sides(run):
        found = [launch for launch in capture.launches if launch.name.startswith(_ALLOCATIONS)]
        if found:
            numbers: dict[str, int | float | str] = {
                "count": len(found),
                "total_ns": sum(launch.duration_ns for launch in found),
            }
            yield Seen(side, numbers)


def _base(name: str) -> str:
    return name.rpartition("::")[2]
