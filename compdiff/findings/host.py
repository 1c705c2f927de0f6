"""What the host does around the kernels. In: a run and its diff. Out: the price of compiled code, occupancy queries."""

from collections.abc import Iterator

from compdiff.align.items import item_id
from compdiff.findings.seen import Seen, sides
from compdiff.lanes.device import covered_ns, has_times, on_device
from compdiff.model import Capture, Diff, Launch, Run

_PERCENT = 100
_SHOWN = 20
_LEAST_SHARE = 0.05
_OCCUPANCY_QUERIES = (
    "cudaOccupancy",
    "cuOccupancy",
    "hipOccupancy",
    "hipModuleOccupancy",
)
COMPILED_CODE = (
    ("TorchDynamo Cache Lookup", "cache_lookup_ns"),
    ("Torch-Compiled Region", "region_ns"),
    ("Pregraph bytecode", "bytecode_ns"),
    ("AOTDispatcher Runtime Wrapper Prologue", "prologue_ns"),
    ("CompiledFunction", "autograd_function_ns"),
    ("## Call CompiledFxGraph", "wrapper_ns"),
)
"""What compiled code does beside ops, by the start of the profiler's name for it: (name, the number it counts for).

Source: torch/_dynamo/eval_frame.py and torch/csrc/dynamo (the lookup), torch/_functorch/_aot_autograd/runtime_wrappers.py,
torch/_inductor/output_code.py (2.14).
"""


def compiled_overhead(run: Run, _: Diff) -> Iterator[Seen]:
    """See guards, prologue and wrapper that take longer than what compiling saves in work, against a side without them.

    Work on different devices is not compared.
    """
    if run.left.device_name != run.right.device_name:
        return
    for side, capture in sides(run):
        other = run.right if side == "left" else run.left
        spent, step = overhead_ns(capture), capture.profile_wall_ns
        total = sum(spent.values())
        if not step or not has_times(other) or total < _LEAST_SHARE * step or overhead_ns(other):
            continue
        saved = _work_ns(other) - _work_ns(capture)
        if total > saved:
            share = round(_PERCENT * total / step, 1)
            yield Seen(
                side, {"overhead_ns": total, **spent, "step_percent": share, "saved_ns": saved}
            )


def overhead_ns(capture: Capture) -> dict[str, int]:
    """Return what compiled code took beside ops, launches and kernels, by part; parts that were not seen are left out."""
    found: dict[str, int] = {}
    for stat in capture.op_stats:
        number = next(
            (number for start, number in COMPILED_CODE if stat.name.startswith(start)), ""
        )
        if number and stat.host_self_ns:
            found[number] = found.get(number, 0) + stat.host_self_ns
    return found


def adaptive_kernels(run: Run, _: Diff) -> Iterator[Seen]:
    """See op calls that ask how many blocks of a kernel fit before they launch it."""
    for side, capture in sides(run):
        queries = [launch for launch in capture.launches if _asks_for_occupancy(launch)]
        if not queries:
            continue
        asking = {launch.op_call for launch in queries}
        calls = [call for call in capture.op_calls if call.id in asking]
        numbers: dict[str, int | float | str] = {
            "count": len(queries),
            "total_ns": sum(launch.duration_ns for launch in queries),
        }
        yield Seen(side, numbers, tuple(item_id(call, side) for call in calls[:_SHOWN]))


def _asks_for_occupancy(launch: Launch) -> bool:
    return launch.name.startswith(_OCCUPANCY_QUERIES)


def _work_ns(capture: Capture) -> int:
    """Return how long the device ran kernels; on a CPU, how long op calls and C++ functions took."""
    kernels = on_device(capture)
    if kernels:
        return covered_ns(kernels)
    calls = sum(call.duration_ns or 0 for call in capture.op_calls)
    return calls + sum(kernel.duration_ns for kernel in capture.kernels)
