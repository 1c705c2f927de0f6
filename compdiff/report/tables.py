"""Tables of kernels and op calls. In: Lookup. Out: one row for each, with profiled time, share and origins.

Durations here come from the profiler pass: good for shares, never a timing.
"""

from collections.abc import Iterable, Mapping
from typing import TypeVar

import msgspec

from compdiff.kernels import read_kernel_name
from compdiff.model import Capture, Kernel, OpCall
from compdiff.report.estimates import kernel_estimate_text, kernel_ns, resources_parts
from compdiff.report.folding import UNFOLDED, Folding
from compdiff.report.headline import origin_kind
from compdiff.report.lookup import Lookup, Ref
from compdiff.report.naming import arguments_text, counted_text, op_name, outputs_text, place_text
from compdiff.report.quantities import (
    UNKNOWN,
    count_text,
    duration_text,
    interval_text,
    share_text,
    size_text,
)
from compdiff.report.rows import kernel_kind

T = TypeVar("T")


class KernelRow(msgspec.Struct, frozen=True, gc=False):
    """One kernel. `anchor` is True where the table is the kernel's only place in the page; `says` is its name in words.

    `again` says of how many repetitions the row has the sum; "" for one.
    """

    id: str
    anchor: bool
    name: str
    says: str
    kind: str
    graph: str
    launcher: Ref | None
    duration: str
    share: str
    fraction: str
    resources: str
    origin: str
    origins: tuple[Ref, ...]
    reason: str
    code: str
    estimate: str
    modelled: str
    again: str


class KernelTable(msgspec.Struct, frozen=True, gc=False):
    """All kernels of one side with the sum of their durations. `times` says what these are: profiled, or estimated.

    Those of repeated layers share a row: `count` is how many kernels there are.
    """

    label: str
    side: str
    count: int
    rows: tuple[KernelRow, ...]
    total: str
    times: str


class OpRow(msgspec.Struct, frozen=True, gc=False):
    """One op call with its dispatch chain, the ops its kernel called in turn, and who matched it.

    `again` says of how many repetitions the row has the sum; "" for one.
    """

    id: str
    name: str
    annotations: tuple[str, ...]
    chain: tuple[str, ...]
    inner: str
    arguments: str
    outputs: str
    place: str
    phase: str
    duration: str
    share: str
    became: tuple[Ref, ...]
    fate: str
    state: str
    matched_by: str
    evidence: str
    again: str


class OpTable(msgspec.Struct, frozen=True, gc=False):
    """All op calls of one side; `became` heads the column of counterparts, `timed` says whether any has a time.

    Those of repeated layers share a row: `count` is how many op calls there are.
    """

    label: str
    side: str
    became: str
    count: int
    rows: tuple[OpRow, ...]
    total: str
    timed: bool


def make_kernel_tables(lookup: Lookup, folding: Folding = UNFOLDED) -> tuple[KernelTable, ...]:
    """Return a table for each side that has kernels, right side first."""
    sides = (
        (lookup.run.right, "right", lookup.right_kernels),
        (lookup.run.left, "left", lookup.left_kernels),
    )
    return tuple(
        _kernel_table(lookup, folding, capture, side, kernels)
        for capture, side, kernels in sides
        if kernels
    )


def _kernel_table(
    lookup: Lookup, folding: Folding, capture: Capture, side: str, kernels: dict[str, Kernel]
) -> KernelTable:
    total = sum(kernel_ns(kernel) for kernel in kernels.values())
    times = "estimated" if capture.basis == "planned" else "profiled"
    row = _right_kernel if side == "right" else _left_kernel
    rows = tuple(
        row(lookup, item, _times(map(kernel_ns, _all(folding, item, kernels))), total)
        for item in kernels
        if folding.shown(item)
    )
    return KernelTable(capture.label, side, len(kernels), rows, duration_text(total), times)


class _Times(msgspec.Struct, frozen=True, gc=False):
    """The times of an item and of those that it stands for."""

    ns: int
    again: str


def _all(folding: Folding, item: str, items: Mapping[str, T]) -> list[T]:
    """Return what an item stands for, itself first."""
    names = (item, *folding.repeats.get(item, ()))
    return [items[name] for name in names if name in items]


def _times(durations: Iterable[int | None]) -> _Times:
    known = [ns or 0 for ns in durations]
    if len(known) == 1:
        return _Times(known[0], "")
    spread = f", {interval_text(min(known), max(known))} each" if max(known) else ""
    return _Times(sum(known), f"x {len(known):,}{spread}")


def _right_kernel(lookup: Lookup, item: str, times: _Times, total: int) -> KernelRow:
    kernel = lookup.right_kernels[item]
    launcher = f"c{kernel.op_call}"
    return KernelRow(
        id=item,
        anchor=False,
        name=kernel.name,
        says=name_text(kernel),
        kind=kernel_kind(kernel),
        graph=graph_text(lookup.run.right, kernel.graph),
        launcher=lookup.ref(launcher) if launcher in lookup.right_ops else None,
        duration=duration_text(times.ns),
        share=share_text(times.ns, total),
        fraction=bar_width(times.ns, total),
        resources=resources_text(kernel),
        origin=origin_kind(lookup, item),
        origins=lookup.refs(lookup.origin(item).op_calls),
        reason=lookup.origin(item).introduced,
        code=lookup.code_anchor(item),
        estimate=kernel_estimate_text(kernel),
        modelled=kernel.modelled,
        again=times.again,
    )


def _left_kernel(lookup: Lookup, item: str, times: _Times, total: int) -> KernelRow:
    kernel = lookup.left_kernels[item]
    launcher = f"e{kernel.op_call}"
    owner = lookup.refs([launcher])
    return KernelRow(
        id=item,
        anchor=item not in lookup.left_items,
        name=kernel.name,
        says=name_text(kernel),
        kind=kernel_kind(kernel),
        graph=graph_text(lookup.run.left, kernel.graph),
        launcher=owner[0] if owner else None,
        duration=duration_text(times.ns),
        share=share_text(times.ns, total),
        fraction=bar_width(times.ns, total),
        resources=resources_text(kernel),
        origin="",
        origins=owner,
        reason="",
        code=lookup.code_anchor(item),
        estimate=kernel_estimate_text(kernel),
        modelled=kernel.modelled,
        again=times.again,
    )


def name_text(kernel: Kernel) -> str:
    """Return what a kernel's name says, in words; "" for generated kernels, whose names are words, and for unknown names."""
    return "" if kernel.kind in {"triton", "cpp"} else read_kernel_name(kernel.name).text()


def bar_width(part: int, whole: int) -> str:
    """Return the width of a bar of 100 units that shows a share."""
    return f"{100 * part / whole if whole else 0:.1f}"


def graph_text(capture: Capture, graph_id: int | None) -> str:
    """Return a compiled graph in words: `0/0 forward`; "" for none."""
    graphs = capture.compiler.graphs if capture.compiler else ()
    return next((f"{g.compile_id} {g.direction}" for g in graphs if g.id == graph_id), "")


def resources_text(kernel: Kernel) -> str:
    """Return a kernel's launch shape and registers as the profiler gave them; "" when it gave none."""
    parts = [
        f"grid ({', '.join(map(str, kernel.grid))})" if kernel.grid else "",
        f"block ({', '.join(map(str, kernel.block))})" if kernel.block else "",
        count_text(kernel.registers, "register") if kernel.registers is not None else "",
        f"{size_text(kernel.shared_bytes)} shared" if kernel.shared_bytes is not None else "",
        f"stream {kernel.stream}" if kernel.stream is not None else "",
        *resources_parts(kernel.resources),
    ]
    return ", ".join(part for part in parts if part)


def make_op_tables(lookup: Lookup, folding: Folding = UNFOLDED) -> tuple[OpTable, ...]:
    """Return the table of op calls of each side, left first."""
    left, right = lookup.run.left, lookup.run.right
    return (
        _op_table(lookup, folding, "left", left.label, f"became ({right.label})"),
        _op_table(lookup, folding, "right", right.label, f"came from ({left.label})"),
    )


def _op_table(lookup: Lookup, folding: Folding, side: str, label: str, became: str) -> OpTable:
    calls, row = (lookup.left_ops, _left_row) if side == "left" else (lookup.right_ops, _right_row)
    total = sum(call.duration_ns or 0 for call in calls.values())
    return OpTable(
        label=label,
        side=side,
        became=became,
        count=len(calls),
        rows=tuple(
            row(
                lookup, item, _times(call.duration_ns for call in _all(folding, item, calls)), total
            )
            for item in calls
            if folding.shown(item)
        ),
        total=duration_text(total) if total else UNKNOWN,
        timed=any(call.duration_ns is not None for call in calls.values()),
    )


def _left_row(lookup: Lookup, item: str, times: _Times, total: int) -> OpRow:
    fate = lookup.fate(item)
    state = fate.fate if not fate.rewrite else f"{fate.fate} by {fate.rewrite}"
    became = lookup.refs(lookup.made_from.get(item, ()))
    return _row(lookup, item, times, (became, fate.fate, state), total)


def _right_row(lookup: Lookup, item: str, times: _Times, total: int) -> OpRow:
    origin = lookup.origin(item)
    kind = origin_kind(lookup, item)
    state = kind + (f": {origin.introduced}" if origin.introduced else "")
    return _row(lookup, item, times, (lookup.refs(origin.op_calls), kind, state), total)


def _row(
    lookup: Lookup,
    item: str,
    times: _Times,
    conclusion: tuple[tuple[Ref, ...], str, str],
    total: int,
) -> OpRow:
    match = lookup.matched.get(item)
    is_right = item in lookup.right_ops
    side = lookup.run.right if is_right else lookup.run.left
    call = (lookup.right_ops if is_right else lookup.left_ops)[item]
    timed = times.again or call.duration_ns is not None
    return OpRow(
        id=item,
        name=op_name(call),
        annotations=call.annotations,
        chain=call.chain,
        inner=counted_text(call.inner),
        arguments=arguments_text(call),
        outputs=outputs_text(call, side.basis),
        place=_place(lookup, item, call),
        phase=call.phase,
        duration=duration_text(times.ns if timed else None),
        share=share_text(times.ns, total),
        became=conclusion[0],
        fate=conclusion[1],
        state=conclusion[2],
        matched_by=f"{match.by}, {match.certainty}" if match else "",
        evidence=match.evidence if match else "",
        again=times.again,
    )


def _place(lookup: Lookup, item: str, call: OpCall) -> str:
    """Return where an op call was made; for one made by generated code the line in the wrapper."""
    if call.call is not None:
        side = lookup.run.right if item in lookup.right_ops else lookup.run.left
        return f"generated wrapper, {graph_text(side, call.graph)}"
    return place_text(call.source, lookup.run.case.file) if call.source else ""
