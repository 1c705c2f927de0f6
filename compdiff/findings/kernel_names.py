"""What kernels' names say. In: a run and its diff. Out: same kernels, other kernels, and names that no table reads."""

from collections import defaultdict
from collections.abc import Iterator
from statistics import median

from compdiff.align.items import item_id
from compdiff.findings.seen import Seen, sides
from compdiff.kernels import KernelName, read_kernel_name
from compdiff.lanes.device import on_device
from compdiff.model import Capture, Diff, Kernel, Run

_SHOWN = 20
_NAMES_SHOWN = 5
_PERCENT = 100
_OTHER_PACE = 1.5
_NOISE_NS = 2_000
_FACETS = (
    ("library", "family"),
    ("work", "meaning"),
    ("functor", "functor"),
    ("architecture", "arch"),
    ("dtype", "dtypes"),
    ("layout", "layout"),
    ("tile", "tile"),
    ("stages", "stages"),
    ("split-K", "split_k"),
    ("alignment", "alignment"),
    ("epilogue", "epilogue"),
)
"""What two names can differ in, the most telling first: (word for the reader, field of KernelName)."""


def other_kernels(run: Run, diff: Diff) -> Iterator[Seen]:
    """See op calls that were kept and yet run other library kernels, and in what the names differ."""
    pairs = [
        (op, item, before, after)
        for op, item, before, after in _launched_by_both(run, diff, "kept")
        if before != after
    ]
    if pairs:
        told = [(pair, _difference(pair[2], pair[3])) for pair in pairs]
        (_, _, before, after), difference = next((it for it in told if it[1]), told[0])
        numbers: dict[str, int | float | str] = {
            "count": len(pairs),
            "first": f"{_functions(before)} -> {_functions(after)}",
            "differs_in": difference or "arguments of the template or of the name only",
        }
        yield Seen("difference", numbers, _items(pairs))


def same_kernels(run: Run, diff: Diff) -> Iterator[Seen]:
    """See op calls that were rewritten into another op, which runs a kernel of the same name."""
    pairs = [
        (op, item, before, after)
        for op, item, before, after in _launched_by_both(run, diff, "rewritten")
        if _computing(before) & _computing(after)
    ]
    if pairs:
        _, _, before, after = pairs[0]
        first = next(name for name in after if name in _computing(before))
        yield Seen(
            "difference", {"count": len(pairs), "first": _functions((first,))}, _items(pairs)
        )


def other_launches(run: Run, _: Diff) -> Iterator[Seen]:
    """See kernels that both sides of one device launch equally often, with other grids or blocks, or at another pace."""
    if run.left.device_name != run.right.device_name:
        return
    left, right = _by_name(run.left), _by_name(run.right)
    found = [
        (name, left[name], right[name])
        for name in left
        if len(left[name]) == len(right.get(name, ())) and _otherwise(left[name], right[name])
    ]
    if not found:
        return
    found.sort(key=lambda it: -abs(_median_ns(it[1]) - _median_ns(it[2])) * len(it[1]))
    name, before, after = found[0]
    numbers: dict[str, int | float | str] = {
        "kernels": len(found),
        "first": _functions((name,)),
        "left_launch": _launch_text(before[0]),
        "right_launch": _launch_text(after[0]),
        "left_median_ns": _median_ns(before),
        "right_median_ns": _median_ns(after),
    }
    items = (
        item
        for _, before, after in found
        for item in (item_id(before[0], "left"), item_id(after[0], "right"))
    )
    yield Seen("difference", numbers, tuple(items)[:_SHOWN])


def unknown_names(run: Run, _: Diff) -> Iterator[Seen]:
    """See kernels whose names no table reads; names that Inductor gave and modelled kernels need none."""
    for side, capture in sides(run):
        kernels = on_device(capture)
        found = [kernel for kernel in kernels if _is_unknown(kernel)]
        if not found:
            continue
        names = sorted({kernel.name for kernel in found})
        numbers: dict[str, int | float | str] = {
            "count": len(found),
            "of_kernels_percent": round(_PERCENT * len(found) / len(kernels), 1),
            "names": ", ".join(names[:_NAMES_SHOWN]),
            "other_names": max(0, len(names) - _NAMES_SHOWN),
        }
        yield Seen(side, numbers, tuple(item_id(kernel, side) for kernel in found[:_SHOWN]))


def differences(before: str, after: str) -> list[str]:
    """Return in what two kernel names differ: `layout tn -> nn`; nothing where one of them is unknown."""
    left, right = read_kernel_name(before), read_kernel_name(after)
    if not (left.known and right.known):
        return []
    return [
        f"{word} {_shown(left, field)} -> {_shown(right, field)}"
        for word, field in _FACETS
        if getattr(left, field) != getattr(right, field)
    ]


def _functions(names: tuple[str, ...]) -> str:
    """Return the names of kernels without the arguments of their templates, which can be a page."""
    return ", ".join(read_kernel_name(name).function or name for name in names)


def _difference(before: tuple[str, ...], after: tuple[str, ...]) -> str:
    """Return in what the kernels of two op calls differ, in words; "" where no part of their names that is read does."""
    gone = [name for name in before if name not in after]
    new = [name for name in after if name not in before]
    if gone and new:
        return "; ".join(differences(gone[0], new[0]))
    more = _functions(tuple(gone or new))
    return f"{'no more' if gone else 'also'} {more}" if more else "order or number of launches"


def _shown(name: KernelName, field: str) -> str:
    """Return a part of a name as text; `none` where the name does not say."""
    value = getattr(name, field)
    if isinstance(value, tuple):
        return ("x" if field == "tile" else " ").join(map(str, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value or "none")


def _by_name(capture: Capture) -> dict[str, list[Kernel]]:
    """Return the kernels that ran, without copies and fills, by name."""
    found: dict[str, list[Kernel]] = defaultdict(list)
    for kernel in on_device(capture):
        if kernel.kind in {"library", "triton"} and kernel.duration_ns:
            found[kernel.name].append(kernel)
    return found


def _otherwise(before: list[Kernel], after: list[Kernel]) -> bool:
    """Return whether kernels of one name are launched with other sizes, or take another time."""
    sizes = [sorted((kernel.grid, kernel.block) for kernel in side) for side in (before, after)]
    slow, fast = max(map(_median_ns, (before, after))), min(map(_median_ns, (before, after)))
    return sizes[0] != sizes[1] or (slow > _OTHER_PACE * fast and slow - fast > _NOISE_NS)


def _median_ns(kernels: list[Kernel]) -> int:
    return round(median(kernel.duration_ns for kernel in kernels))


def _launch_text(kernel: Kernel) -> str:
    grid, block = ("x".join(map(str, size)) or "unknown" for size in (kernel.grid, kernel.block))
    return f"grid {grid}, block {block}"


def _is_unknown(kernel: Kernel) -> bool:
    return (
        kernel.kind != "triton" and not kernel.modelled and not read_kernel_name(kernel.name).known
    )


def _computing(names: tuple[str, ...]) -> set[str]:
    """Return the names of kernels that do an op's own work: copies and fills go by one name whatever they belong to."""
    return {name for name in names if not name.startswith(("Memcpy", "Memset"))}


def _launched_by_both(
    run: Run, diff: Diff, fate: str
) -> Iterator[tuple[str, str, tuple[str, ...], tuple[str, ...]]]:
    """Yield (left op call, right op call, names of the left kernels, of the right ones) where the left one has this fate.

    A right op call that does the work of several is beside each of them.
    """
    left, right = _kernel_names(run.left), _kernel_names(run.right)
    for item, origin in diff.origins.items():
        after = right.get(item[1:]) if item.startswith("c") else None
        for op in origin.op_calls if after else ():
            before = left.get(op[1:])
            alone = fate != "kept" or len(origin.op_calls) == 1
            if before and after and alone and diff.fates[op].fate == fate:
                yield op, item, before, after


def _kernel_names(capture: Capture) -> dict[str, tuple[str, ...]]:
    """Return the names of the kernels that each op call launched, where they were seen and not modelled."""
    found: dict[str, list[str]] = defaultdict(list)
    for kernel in capture.kernels:
        if kernel.op_call is not None and not kernel.modelled:
            found[str(kernel.op_call)].append(kernel.name)
    return {op: tuple(names) for op, names in found.items()}


def _items(pairs: list[tuple[str, str, tuple[str, ...], tuple[str, ...]]]) -> tuple[str, ...]:
    return tuple(item for op, right, _, _ in pairs for item in (op, right))[:_SHOWN]
