"""Tables of kernels and op calls. In: Lookup. Out: one row for each, with profiled time, share and origins.

Durations here come from the profiler pass: good for shares, never a timing.
"""

import msgspec

from compdiff.kernels import read_kernel_name
from compdiff.model import Capture, Kernel, OpCall
from compdiff.report.estimates import kernel_estimate_text, kernel_ns, resources_parts
from compdiff.report.headline import origin_kind
from compdiff.report.lookup import Lookup, Ref
from compdiff.report.naming import arguments_text, counted_text, op_name, outputs_text, place_text
from compdiff.report.quantities import UNKNOWN, count_text, duration_text, share_text, size_text
from compdiff.report.rows import kernel_kind


class KernelRow(msgspec.Struct, frozen=True):
    """One kernel. `anchor` is True where the table is the kernel's only place in the page; `says` is its name in words."""

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


class KernelTable(msgspec.Struct, frozen=True):
    """All kernels of one side with the sum of their durations. `times` says what these are: profiled, or estimated."""

    label: str
    side: str
    rows: tuple[KernelRow, ...]
    total: str
    times: str


class OpRow(msgspec.Struct, frozen=True):
    """One op call with its dispatch chain, the ops its kernel called in turn, and who matched it."""

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
    state: str
    matched_by: str
    evidence: str


class OpTable(msgspec.Struct, frozen=True):
    """All op calls of one side; `became` heads the column of counterparts, `timed` says whether any has a time."""

    label: str
    side: str
    became: str
    rows: tuple[OpRow, ...]
    total: str
    timed: bool


def make_kernel_tables(lookup: Lookup) -> tuple[KernelTable, ...]:
    """Return a table for each side that has kernels, right side first."""
    sides = (
        (lookup.run.right, "right", lookup.right_kernels),
        (lookup.run.left, "left", lookup.left_kernels),
    )
    return tuple(
        _kernel_table(lookup, capture, side, kernels) for capture, side, kernels in sides if kernels
    )


def _kernel_table(
    lookup: Lookup, capture: Capture, side: str, kernels: dict[str, Kernel]
) -> KernelTable:
    total = sum(kernel_ns(kernel) for kernel in kernels.values())
    times = "estimated" if capture.basis == "planned" else "profiled"
    row = _right_kernel if side == "right" else _left_kernel
    rows = tuple(row(lookup, item, kernel, total) for item, kernel in kernels.items())
    return KernelTable(capture.label, side, rows, duration_text(total), times)


def _right_kernel(lookup: Lookup, item: str, kernel: Kernel, total: int) -> KernelRow:
    launcher = f"c{kernel.op_call}"
    return KernelRow(
        id=item,
        anchor=False,
        name=kernel.name,
        says=name_text(kernel),
        kind=kernel_kind(kernel),
        graph=graph_text(lookup.run.right, kernel.graph),
        launcher=lookup.ref(launcher) if launcher in lookup.right_ops else None,
        duration=duration_text(kernel_ns(kernel)),
        share=share_text(kernel_ns(kernel), total),
        fraction=bar_width(kernel_ns(kernel), total),
        resources=resources_text(kernel),
        origin=origin_kind(lookup, item),
        origins=lookup.refs(lookup.origin(item).op_calls),
        reason=lookup.origin(item).introduced,
        code=lookup.code_anchor(item),
        estimate=kernel_estimate_text(kernel),
        modelled=kernel.modelled,
    )


def _left_kernel(lookup: Lookup, item: str, kernel: Kernel, total: int) -> KernelRow:
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
        duration=duration_text(kernel_ns(kernel)),
        share=share_text(kernel_ns(kernel), total),
        fraction=bar_width(kernel_ns(kernel), total),
        resources=resources_text(kernel),
        origin="",
        origins=owner,
        reason="",
        code=lookup.code_anchor(item),
        estimate=kernel_estimate_text(kernel),
        modelled=kernel.modelled,
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


def make_op_tables(lookup: Lookup) -> tuple[OpTable, ...]:
    """Return the table of op calls of each side, left first."""
    left, right = lookup.run.left, lookup.run.right
    return (
        _op_table(lookup, "left", left.label, f"became ({right.label})"),
        _op_table(lookup, "right", right.label, f"came from ({left.label})"),
    )


def _op_table(lookup: Lookup, side: str, label: str, became: str) -> OpTable:
    calls, row = (lookup.left_ops, _left_row) if side == "left" else (lookup.right_ops, _right_row)
    total = sum(call.duration_ns or 0 for call in calls.values())
    return OpTable(
        label=label,
        side=side,
        became=became,
        rows=tuple(row(lookup, item, call, total) for item, call in calls.items()),
        total=duration_text(total) if total else UNKNOWN,
        timed=any(call.duration_ns is not None for call in calls.values()),
    )


def _left_row(lookup: Lookup, item: str, call: OpCall, total: int) -> OpRow:
    fate = lookup.fate(item)
    state = fate.fate if not fate.rewrite else f"{fate.fate} by {fate.rewrite}"
    return _row(lookup, item, call, (lookup.refs(lookup.made_from.get(item, ())), state), total)


def _right_row(lookup: Lookup, item: str, call: OpCall, total: int) -> OpRow:
    origin = lookup.origin(item)
    state = origin_kind(lookup, item) + (f": {origin.introduced}" if origin.introduced else "")
    return _row(lookup, item, call, (lookup.refs(origin.op_calls), state), total)


def _row(
    lookup: Lookup,
    item: str,
    call: OpCall,
    conclusion: tuple[tuple[Ref, ...], str],
    total: int,
) -> OpRow:
    match = lookup.matched.get(item)
    side = lookup.run.right if item in lookup.right_ops else lookup.run.left
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
        duration=duration_text(call.duration_ns),
        share=share_text(call.duration_ns or 0, total),
        became=conclusion[0],
        state=conclusion[1],
        matched_by=f"{match.by}, {match.certainty}" if match else "",
        evidence=match.evidence if match else "",
    )


def _place(lookup: Lookup, item: str, call: OpCall) -> str:
    """Return where an op call was made; for one made by generated code the line in the wrapper."""
    if call.call is not None:
        side = lookup.run.right if item in lookup.right_ops else lookup.run.left
        return f"generated wrapper, {graph_text(side, call.graph)}"
    return place_text(call.source, lookup.run.case.file) if call.source else ""
