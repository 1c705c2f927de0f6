"""The timeline. In: Lookup. Out: the lanes of both sides on one axis, their facts as a table, the data for Perfetto."""

from collections.abc import Mapping, Sequence

import msgspec

from compdiff.align.items import item_id, left_kernel, left_op, right_kernel, right_op
from compdiff.lanes.device import DeviceFacts, device_facts, queued_ns
from compdiff.lanes.lanes import Chain, Lane, SideLanes, Span, chains, host_ns, make_lanes
from compdiff.model import Capture, Kernel, Launch, OpCall, Side
from compdiff.report.lane_bars import LaneBar, Mark, make_bars, pile_up
from compdiff.report.lookup import Lookup, Ref
from compdiff.report.naming import clipped, counted_text, op_name
from compdiff.report.perfetto import trace_data
from compdiff.report.quantities import UNKNOWN, count_text, duration_text, percent_text
from compdiff.report.shades import LAUNCH, SHADES, Shade, shade_of

_TICK_STEPS = (1, 2, 5)
_MOST_TICKS = 8
_MOST_STREAMS = 8
_NAME_LENGTH = 160
_LAUNCH_HEIGHT = 12
_HEIGHT = 18
_NOUNS = {"host": "op call", "launches": "launch", "device": "kernel"}


class Tick(msgspec.Struct, frozen=True):
    """A mark on the axis, in percent of its width."""

    x: str
    text: str
    anchor: str


class LaneView(msgspec.Struct, frozen=True):
    """One lane as bars; `description` says it in words."""

    name: str
    part: str
    height: int
    bars: tuple[LaneBar, ...]
    description: str


class SideView(msgspec.Struct, frozen=True):
    """One side's lanes; the step ends on the host at `end_x`, what is behind it ran later."""

    label: str
    side: str
    summary: str
    lanes: tuple[LaneView, ...]
    end_x: str


class Cell(msgspec.Struct, frozen=True):
    """One fact of one side, with the items that it speaks of."""

    text: str
    refs: tuple[Ref, ...] = ()


class Fact(msgspec.Struct, frozen=True):
    """One row of the table of facts."""

    name: str
    left: Cell
    right: Cell


class TimelineView(msgspec.Struct, frozen=True):
    """The picture, the table, and the data that a browser makes a trace of, as JSON that is safe in HTML."""

    sides: tuple[SideView, ...]
    ticks: tuple[Tick, ...]
    legend: tuple[Shade, ...]
    shades: dict[str, Shade]
    facts: tuple[Fact, ...]
    piled: bool
    data: str


def make_timeline(lookup: Lookup) -> TimelineView | None:
    """Return the timeline, or None where neither side has times."""
    captures: tuple[tuple[Side, Capture], ...] = (
        ("left", lookup.run.left),
        ("right", lookup.run.right),
    )
    lanes = {side: made for side, capture in captures if (made := make_lanes(capture))}
    length = max((one.end_ns for one in lanes.values()), default=0)
    if not length:
        return None
    devices = {side: device_facts(capture) for side, capture in captures}
    sides = tuple(
        _side(_Marker(lookup, side, capture), lanes[side], length, devices[side])
        for side, capture in captures
        if side in lanes
    )
    bars = [bar for side in sides for lane in side.lanes for bar in lane.bars]
    shown = {bar.shade for bar in bars}
    return TimelineView(
        sides=sides,
        ticks=_ticks(length),
        legend=tuple(shade for kind, shade in SHADES.items() if kind in shown),
        shades=SHADES,
        facts=_facts(lookup, lanes, devices),
        piled=any(bar.opacity and not bar.item for bar in bars),
        data=trace_data(lookup, lanes),
    )


# ---------------------------------------------------------------- what is said of a span


class _Marker:
    """Says what one side's spans are."""

    def __init__(self, lookup: Lookup, side: Side, capture: Capture) -> None:
        self.capture = capture
        self.side = side
        self._lookup = lookup
        self._op_id = left_op if side == "left" else right_op
        self._chains = chains(capture)
        self._calls = {call.id: call for call in capture.op_calls}
        self._launches = {launch.id: launch for launch in capture.launches}

    def mark(self, span: Span) -> Mark:
        """Return how a span is shown."""
        if isinstance(span.item, Launch):
            return self._launch(span, span.item)
        if isinstance(span.item, Kernel):
            return self._kernel(span, span.item)
        return self._op(span, span.item)

    def shade(self, span: Span) -> str:
        """Return the shade of a span's mark."""
        if isinstance(span.item, Launch):
            return LAUNCH
        return shade_of(self._lookup, item_id(span.item, self.side))

    def _launch(self, span: Span, launch: Launch) -> Mark:
        caller = self._caller(launch.op_call)
        link = "" if launch.op_call is None else self._op_id(launch.op_call)
        return Mark(LAUNCH, "", link, "", _lines(launch.name, _when(span), f"by {caller}"))

    def _kernel(self, span: Span, kernel: Kernel) -> Mark:
        item = item_id(kernel, self.side)
        stream = "" if kernel.stream is None else f"on stream {kernel.stream}"
        queued = queued_ns(self._launches, kernel)
        waited = "" if queued is None else f"{duration_text(queued)} after its launch"
        times = ", ".join(filter(None, (_when(span), stream, waited)))
        caller = "" if kernel.op_call is None else f"launched by {self._caller(kernel.op_call)}"
        return self._mark(item, kernel.name, times, caller)

    def _op(self, span: Span, call: OpCall) -> Mark:
        chain = self._chains.get(call.id, Chain())
        own = "" if call.self_ns is None else f"own {duration_text(call.self_ns)}"
        device = ""
        if chain.kernels:
            count = count_text(len(chain.kernels), "kernel")
            device = f"device {duration_text(chain.device_ns)} in {count}"
        times = ", ".join(filter(None, (_when(span), own, device)))
        return self._mark(item_id(call, self.side), op_name(call), times, _chain_text(call, chain))

    def _mark(self, item: str, name: str, times: str, more: str) -> Mark:
        kind = shade_of(self._lookup, item)
        sign = SHADES[kind].sign
        head = f"{clipped(name, _NAME_LENGTH)} ({item}), {kind}"
        return Mark(
            kind, item, item, f"{sign} {clipped(name, 60)}".strip(), _lines(head, times, more)
        )

    def _caller(self, number: int | None) -> str:
        call = None if number is None else self._calls.get(number)
        return "no op call" if call is None else f"{op_name(call)} ({item_id(call, self.side)})"


def _when(span: Span) -> str:
    return f"{duration_text(span.duration_ns)} at {duration_text(span.start_ns)}"


def _chain_text(call: OpCall, chain: Chain) -> str:
    """Return annotations and composite ops around a call, the call, what is inside, launches and kernels: `a > b > c`."""
    parts = (
        *call.annotations,
        *call.chain,
        call.name,
        counted_text(call.inner),
        counted_text(launch.name for launch in chain.launches),
        counted_text(clipped(kernel.name, _NAME_LENGTH // 2) for kernel in chain.kernels),
    )
    shown = [part for part in parts if part]
    return " > ".join(shown) if len(shown) > 1 else ""


def _lines(*texts: str) -> str:
    return "\n".join(text for text in texts if text)


# ---------------------------------------------------------------- the picture


def _side(marker: _Marker, lanes: SideLanes, length: int, device: DeviceFacts | None) -> SideView:
    drawn = _with_few_streams(lanes.lanes)
    groups = pile_up(drawn, length)
    views = tuple(
        LaneView(
            name=lane.name,
            part=lane.part,
            height=_LAUNCH_HEIGHT if lane.part == "launches" else _HEIGHT,
            bars=make_bars(found, length, marker, _noun(lane)),
            description=_description(lane),
        )
        for lane, found in zip(drawn, groups, strict=True)
    )
    return SideView(
        label=marker.capture.label,
        side=marker.side,
        summary=_summary(device, lanes),
        lanes=views,
        end_x=f"{100 * lanes.wall_ns / length:.2f}",
    )


def _with_few_streams(lanes: Sequence[Lane]) -> list[Lane]:
    """Return the lanes with the streams beyond the first few, in the order of their first kernel, as one lane."""
    device = [lane for lane in lanes if lane.part == "device"]
    if len(device) <= _MOST_STREAMS:
        return list(lanes)
    kept, rest = device[: _MOST_STREAMS - 1], device[_MOST_STREAMS - 1 :]
    spans = sorted((span for lane in rest for span in lane.spans), key=lambda span: span.start_ns)
    others = Lane(f"{len(rest)} other streams", "device", tuple(spans))
    return [*(lane for lane in lanes if lane.part != "device"), *kept, others]


def _description(lane: Lane) -> str:
    total = sum(span.duration_ns for span in lane.spans)
    noun = _noun(lane)
    plural = "launches" if noun == "launch" else ""
    return (
        f"{lane.name}: {count_text(len(lane.spans), noun, plural)}, {duration_text(total)} in total"
    )


def _noun(lane: Lane) -> str:
    return "kernel" if isinstance(lane.spans[0].item, Kernel) else _NOUNS[lane.part]


def _summary(facts: DeviceFacts | None, lanes: SideLanes) -> str:
    step = f"step of {duration_text(lanes.wall_ns)} on the host"
    if facts is None:
        return step
    busy = f"device busy for {duration_text(facts.busy_ns)}"
    return f"{step}, {busy}" + (
        f" ({percent_text(facts.share)})" if facts.share is not None else ""
    )


def _ticks(length: int) -> tuple[Tick, ...]:
    """Return marks at round times, from 0 on, the unit being one for all."""
    step = next(
        factor * 10**power
        for power in range(20)
        for factor in _TICK_STEPS
        if length / (factor * 10**power) <= _MOST_TICKS
    )
    scale, unit = (1_000_000, "ms") if step >= 100_000 else (1_000, "us")  # noqa: PLR2004 (0.1 ms)
    moments = range(0, length + 1, step)
    return tuple(
        Tick(
            x=f"{100 * moment / length:.2f}",
            text=f"{moment / scale:g} {unit}",
            anchor="start" if moment == 0 else "end" if moment > 0.96 * length else "middle",
        )
        for moment in moments
    )


# ---------------------------------------------------------------- the facts


def _facts(
    lookup: Lookup, lanes: Mapping[Side, SideLanes], devices: Mapping[Side, DeviceFacts | None]
) -> tuple[Fact, ...]:
    sides = (
        _side_facts(lookup, "left", lanes.get("left"), devices["left"]),
        _side_facts(lookup, "right", lanes.get("right"), devices["right"]),
    )
    nothing = Cell(UNKNOWN)
    return tuple(
        Fact(name, *(facts.get(name, nothing) for facts in sides))
        for name in dict.fromkeys([*sides[0], *sides[1]])
    )


def _side_facts(
    lookup: Lookup, side: Side, lanes: SideLanes | None, device: DeviceFacts | None
) -> dict[str, Cell]:
    if lanes is None:
        return {}
    capture = lookup.run.left if side == "left" else lookup.run.right
    host = host_ns(capture)
    facts = {
        "Step on the host": Cell(duration_text(lanes.wall_ns)),
        "Host in op calls": Cell(_of_step(host, lanes.wall_ns)),
    }
    if capture.launches:
        spent = sum(launch.duration_ns for launch in capture.launches)
        count = count_text(len(capture.launches), "launch", "launches")
        facts["Launches"] = Cell(f"{count}, {duration_text(spent)}")
    if device is not None:
        facts |= _device_cells(lookup, device, lanes.wall_ns, side)
    return facts


def _device_cells(lookup: Lookup, facts: DeviceFacts, wall: int, side: Side) -> dict[str, Cell]:
    name = left_kernel if side == "left" else right_kernel
    streams = count_text(facts.streams, "stream")
    cells = {
        "Kernels": Cell(f"{count_text(facts.kernels, 'kernel')} on {streams}"),
        "Device busy": Cell(_of_step(facts.busy_ns, wall)),
        "Idle between kernels": Cell(duration_text(facts.idle_ns)),
    }
    if facts.gap is not None:
        refs = _short(lookup, name(facts.gap.after), name(facts.gap.before))
        cells["Largest gap"] = Cell(f"{duration_text(facts.gap.ns)}, between", refs)
    if facts.wait_ns is not None:
        cells["First kernel after the first op call"] = Cell(duration_text(facts.wait_ns))
    if facts.queueing is not None:
        cells["Median wait from launch to kernel"] = Cell(duration_text(facts.queueing.median_ns))
        refs = _short(lookup, name(facts.queueing.longest))
        longest = duration_text(facts.queueing.longest_ns)
        cells["Longest wait from launch to kernel"] = Cell(f"{longest}, of", refs)
    if facts.overlap_ns is not None:
        cells["Several streams at once"] = Cell(duration_text(facts.overlap_ns))
    return cells


def _short(lookup: Lookup, *items: str) -> tuple[Ref, ...]:
    return tuple(Ref(ref.id, clipped(ref.name, 40)) for ref in lookup.refs(items))


def _of_step(ns: int, wall: int) -> str:
    """Return a time with its share of the step on the host; kernels of a step may run for longer than that takes."""
    if ns > wall:
        return f"{duration_text(ns)}, longer than the step on the host"
    return (
        f"{duration_text(ns)}, {percent_text(ns / wall)} of the step" if wall else duration_text(ns)
    )
