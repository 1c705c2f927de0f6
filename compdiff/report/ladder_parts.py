"""Where the time of each rung goes, as a table of texts. In: Ladder. Out: PartTable: a row a part, a column a rung."""

import msgspec

from compdiff.ladder.records import Ladder, PartTime, Split
from compdiff.ladder.splits import ALL_PARTS
from compdiff.report.quantities import UNKNOWN, duration_text, interval_text, share_text

LABELS = {
    "device": "device work",
    "kernels": "generated kernels",
    "launches": "launches",
    "lookup": "guards and cache lookup",
    "wrapper": "wrapper",
    "op_calls": "op calls",
    "wait": "waits for the device",
    "other": "other",
}
"""What the parts are called in words."""
_MEANS = {
    "device": "a kernel, a copy or a fill runs on the device",
    "kernels": "C++ functions that Inductor generated",
    "launches": "calls of the device's runtime and driver",
    "lookup": "Dynamo finds the compiled code and checks its guards",
    "wrapper": "what compiled code does around ops and kernels: AOTAutograd's wrapper, Inductor's generated Python",
    "op_calls": "ops and autograd functions on the host; on a CPU with all their work",
    "wait": "the host waits for the device, which runs nothing",
    "other": "what the trace does not name: mostly Python",
}
_WITH_DEVICE = "while the device is idle"


class PartCell(msgspec.Struct, frozen=True):
    """How long one part takes on one rung, as texts; all of them `-` where the rung was not split."""

    time: str
    share: str
    interval: str
    host: str


class PartRow(msgspec.Struct, frozen=True):
    """One part on all rungs."""

    name: str
    label: str
    means: str
    cells: tuple[PartCell, ...]


class PartTable(msgspec.Struct, frozen=True):
    """The parts of the profiled step on all rungs that were split; `totals` are their sums.

    `idle` is all but device work; empty where no device ran anything.
    """

    rungs: tuple[str, ...]
    rows: tuple[PartRow, ...]
    totals: tuple[str, ...]
    idle: tuple[str, ...]
    steps: str


def make_part_table(ladder: Ladder) -> PartTable | None:
    """Return the table, or None where no rung was split."""
    split = [(rung.name, rung.split) for rung in ladder.rungs if rung.split is not None]
    if not split:
        return None
    found = [one for _, one in split]
    seen = {part.name for one in found for part in one.parts}
    counts = sorted({one.steps for one in found})
    return PartTable(
        rungs=tuple(name for name, _ in split),
        rows=tuple(_row(name, found, "device" in seen) for name in ALL_PARTS if name in seen),
        totals=tuple(duration_text(one.total_ns) for one in found),
        idle=tuple(_idle(one) for one in found) if "device" in seen else (),
        steps=f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}",
    )


def _row(name: str, splits: list[Split], on_device: bool) -> PartRow:  # noqa: FBT001 (a fact, not a switch)
    idle = f", {_WITH_DEVICE}" if on_device and name not in {"device", "wait"} else ""
    return PartRow(
        name=name,
        label=LABELS[name],
        means=f"{_MEANS[name]}{idle}",
        cells=tuple(_cell(name, split) for split in splits),
    )


def _idle(split: Split) -> str:
    """Return how long the device ran nothing, with the share of the step."""
    busy = sum(part.ns for part in split.parts if part.name == "device")
    idle = split.total_ns - busy
    return f"{duration_text(idle)}, {share_text(idle, split.total_ns)}"


def _cell(name: str, split: Split) -> PartCell:
    part = next((it for it in split.parts if it.name == name), None)
    if part is None:
        return PartCell(UNKNOWN, "", "", "")
    return PartCell(
        time=duration_text(part.ns),
        share=share_text(part.ns, split.total_ns),
        interval=interval_text(part.low_ns, part.high_ns),
        host=_host_text(part),
    )


def _host_text(part: PartTime) -> str:
    return "" if part.host_ns is None else f"{duration_text(part.host_ns)} in all"
