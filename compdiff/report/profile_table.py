"""The profiler's table of both sides by name. In: Run. Out: rows as in torch's `key_averages().table()`.

Total times of nested events overlap, so only calls and self times add up; that is why the last rows have no totals.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import msgspec

from compdiff.lanes.device import has_times, on_device
from compdiff.model import Capture, OpStat, Run
from compdiff.report.naming import clipped
from compdiff.report.quantities import UNKNOWN, duration_text, share_text

MOST_ROWS = 60
_NAME_LENGTH = 120
_HOST_COLUMNS = ("Calls", "Host self", "Host total")
_DEVICE_COLUMNS = ("Device self", "Device total")
_KERNEL_COLUMNS = ("Calls", "Device time", "Share")
_NONE = OpStat(name="", calls=0, host_self_ns=0, host_total_ns=0)


class ProfilerRow(msgspec.Struct, frozen=True):
    """One name with the cells of both sides, dashes on a side that has no event of that name."""

    name: str
    left: tuple[str, ...]
    right: tuple[str, ...]


class ProfilerTable(msgspec.Struct, frozen=True):
    """Rows, the largest first; `others` sums up the names beyond the most that are shown; `sums` close the table."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[ProfilerRow, ...]
    others: ProfilerRow | None
    sums: tuple[ProfilerRow, ...]


class ProfilerView(msgspec.Struct, frozen=True):
    """The tables of host events, and of kernels where a device ran any."""

    labels: tuple[str, str]
    tables: tuple[ProfilerTable, ...]


def make_profiler(run: Run) -> ProfilerView | None:
    """Return the profiler's tables, or None for a run that has none: a plan, or one made by an older version."""
    if not any(capture.op_stats and has_times(capture) for capture in (run.left, run.right)):
        return None
    tables = [_op_table(run.left, run.right)]
    if on_device(run.left) or on_device(run.right):
        tables.append(_kernel_table(run.left, run.right))
    return ProfilerView((run.left.label, run.right.label), tuple(tables))


# ---------------------------------------------------------------- host events


def _op_table(left: Capture, right: Capture) -> ProfilerTable:
    device = bool(on_device(left) or on_device(right))
    sides = [{stat.name: stat for stat in capture.op_stats} for capture in (left, right)]

    def size(name: str) -> tuple[int, int]:
        stats = [side.get(name, _NONE) for side in sides]
        return max(it.device_total_ns for it in stats), max(it.host_total_ns for it in stats)

    names = sorted(dict.fromkeys([*sides[0], *sides[1]]), key=lambda name: (size(name), name))
    names.reverse()

    def row(
        title: str, found: Sequence[str], cells: Callable[[OpStat], tuple[str, ...]]
    ) -> ProfilerRow:
        sums = [_sum(side[name] for name in found if name in side) for side in sides]
        return ProfilerRow(title, *(cells(it)[: 5 if device else 3] for it in sums))

    rest = names[MOST_ROWS:]
    sums = [row("All", names, _sum_cells)]
    if device:
        sums.append(_outside(left, right))
    return ProfilerTable(
        title="Ops, annotations and launches",
        columns=_HOST_COLUMNS + (_DEVICE_COLUMNS if device else ()),
        rows=tuple(row(clipped(name, _NAME_LENGTH), [name], _cells) for name in names[:MOST_ROWS]),
        others=row(f"{len(rest)} others", rest, _sum_cells) if rest else None,
        sums=tuple(sums),
    )


def _outside(left: Capture, right: Capture) -> ProfilerRow:
    """Return the row of the kernels that no op launched: with it, the self device times are those of all kernels."""
    cells = [
        ("", "", "", _time(_device_ns(capture) - _sum(capture.op_stats).device_self_ns), "")
        for capture in (left, right)
    ]
    return ProfilerRow("Launched by none of these", *cells)


def _sum(stats: Iterable[OpStat]) -> OpStat:
    found = list(stats)
    return OpStat(
        name="",
        calls=sum(stat.calls for stat in found),
        host_self_ns=sum(stat.host_self_ns for stat in found),
        host_total_ns=sum(stat.host_total_ns for stat in found),
        device_self_ns=sum(stat.device_self_ns for stat in found),
        device_total_ns=sum(stat.device_total_ns for stat in found),
    )


def _cells(stat: OpStat) -> tuple[str, ...]:
    if not stat.calls:
        return (UNKNOWN,) * 5
    times = (stat.host_self_ns, stat.host_total_ns, stat.device_self_ns, stat.device_total_ns)
    return (f"{stat.calls:,}", *map(_time, times))


def _time(ns: int) -> str:
    return duration_text(ns) if ns else "0"


def _sum_cells(stat: OpStat) -> tuple[str, ...]:
    calls, host_self, _, device_self, _ = _cells(stat)
    return calls, host_self, "", device_self, ""


# ---------------------------------------------------------------- kernels


def _kernel_table(left: Capture, right: Capture) -> ProfilerTable:
    counts, times = zip(*map(_by_name, (left, right)), strict=True)
    names = sorted(counts[0] | counts[1], key=lambda name: (max(it[name] for it in times), name))
    names.reverse()
    totals = [time.total() for time in times]

    def row(title: str, found: Sequence[str]) -> ProfilerRow:
        cells = [
            _kernel_cells(
                sum(count[name] for name in found), sum(time[name] for name in found), total
            )
            for count, time, total in zip(counts, times, totals, strict=True)
        ]
        return ProfilerRow(title, *cells)

    rest = names[MOST_ROWS:]
    return ProfilerTable(
        title="Kernels, copies and memsets",
        columns=_KERNEL_COLUMNS,
        rows=tuple(row(clipped(name, _NAME_LENGTH), [name]) for name in names[:MOST_ROWS]),
        others=row(f"{len(rest)} others", rest) if rest else None,
        sums=(row("All", names),),
    )


def _by_name(capture: Capture) -> tuple[Counter[str], Counter[str]]:
    """Return how many kernels there are of each name, and their time."""
    counts, times = Counter[str](), Counter[str]()
    for kernel in on_device(capture):
        counts[kernel.name] += 1
        times[kernel.name] += kernel.duration_ns
    return counts, times


def _kernel_cells(calls: int, ns: int, total: int) -> tuple[str, ...]:
    return (f"{calls:,}", duration_text(ns), share_text(ns, total)) if calls else (UNKNOWN,) * 3


def _device_ns(capture: Capture) -> int:
    return sum(kernel.duration_ns for kernel in on_device(capture))
