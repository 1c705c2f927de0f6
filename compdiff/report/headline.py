"""The head of every output. In: Lookup, failed expectations. Out: the verdict in words, both sides' numbers, the sums.

The sums state the conservation law: every op call has one fate, every right item one origin, and the parts add up.
"""

from collections import Counter

import msgspec

from compdiff.model import Capture, Failure, Kernel, Run, Timing
from compdiff.report.comparison import comparison_sentence, times
from compdiff.report.estimates import estimated_sums, side_clause
from compdiff.report.lookup import Lookup, is_unexplained
from compdiff.report.quantities import (
    UNKNOWN,
    count_text,
    duration_text,
    list_text,
    percent_text,
    size_text,
)
from compdiff.report.timings import SideTiming, TimingView
from compdiff.timing import BUSIEST_MACHINE

FATES = (
    "kept",
    "rewritten",
    "decomposed",
    "fused",
    "eliminated",
    "folded",
    "removed",
    "unexplained",
)
ORIGINS = ("from op calls", "introduced", "unexplained")
# What the origins are called where two runs are compared.
_COMPARED_ORIGINS = {"from op calls": "in both", "introduced": "added"}
_TIME_NOTE = "median and its 95 % interval, unprofiled"
# What bounds a side, by the finding that says it.
_BOUNDS = {
    "overhead-bound": "overhead-bound at this size",
    "launch-bound-plan": "launch-bound at this size",
    "device-bound": "device-bound",
}
ALWAYS_TRUE = frozenset({"in-process", "observer"})
"""Warnings that hold for every run of their kind: they stand in the report, and would tire a reader of short outputs."""
GENERATED_KINDS = frozenset({"cpp", "triton"})


class Metric(msgspec.Struct, frozen=True):
    """One number of both sides as texts, with the change from left to right; `note` says what it is."""

    name: str
    left: str
    right: str
    change: str = ""
    note: str = ""


class Part(msgspec.Struct, frozen=True):
    """One share of a sum."""

    name: str
    count: int


class Sum(msgspec.Struct, frozen=True):
    """A total with its parts, zero ones left out but for `unexplained`."""

    name: str
    total: int
    parts: tuple[Part, ...]

    @property
    def unexplained(self) -> int:
        """How many of the total nothing explains."""
        return sum(part.count for part in self.parts if part.name == "unexplained")


class Notice(msgspec.Struct, frozen=True):
    """A warning with the side it speaks of (`run`, or a capture's label)."""

    side: str
    id: str
    text: str


class Headline(msgspec.Struct, frozen=True):
    """What a reader must know first. `expected` is True, False or None when the case asks for nothing."""

    case: str
    summary: str
    left_label: str
    right_label: str
    basis: str
    device: str
    verdict: str
    sentence: str
    metrics: tuple[Metric, ...]
    sums: tuple[Sum, ...]
    notices: tuple[Notice, ...]
    failure: Failure | None
    expected: bool | None
    expectation_failures: tuple[str, ...]


def make_headline(
    lookup: Lookup, timing: TimingView | None, expectation_failures: tuple[str, ...]
) -> Headline:
    """Return the head of the report."""
    run = lookup.run
    sums = make_sums(lookup)
    return Headline(
        case=run.case.name,
        summary=run.case.summary,
        left_label=run.left.label,
        right_label=run.right.label,
        basis=basis_text(run),
        device=device_text(run.right) or device_text(run.left),
        verdict=timing.verdict if timing else "",
        sentence=verdict_sentence(lookup, timing, sums),
        metrics=(*make_metrics(run, timing), *_times_apart(lookup)),
        sums=sums,
        notices=make_notices(run),
        failure=run.failure,
        expected=None if run.expectation is None else not expectation_failures,
        expectation_failures=expectation_failures,
    )


def failure_text(failure: Failure) -> str:
    """Return where a run ended and why, on one line: some of torch's messages are a page long."""
    return f"{failure.stage}: {failure.message.partition(chr(10))[0]}"


def basis_text(run: Run) -> str:
    """Return how the two sides came to be: `measured`, or both words where they differ."""
    return " against ".join(dict.fromkeys((run.left.basis, run.right.basis)))


def device_text(capture: Capture) -> str:
    """Return a capture's device with its name: `cuda:0, NVIDIA A100`."""
    return ", ".join(part for part in (capture.device, capture.device_name) if part)


# ---------------------------------------------------------------- in words


def verdict_sentence(lookup: Lookup, timing: TimingView | None, sums: tuple[Sum, ...]) -> str:
    """Return the verdict: `12 op calls became 3 op calls and 2 generated kernels; 1.80x faster (1.70 to 1.90); ...`."""
    run = lookup.run
    if run.failure is not None:
        return _failed_sentence(run, run.failure)
    if lookup.diff.comparison is not None:
        return comparison_sentence(lookup, lookup.diff.comparison)
    clauses = [
        _structure_clause(run),
        _device_clause(run),
        _copies_clause(lookup),
        timing.speed if timing else side_clause(run) or "not timed",
        _bound_clause(lookup),
        _breaks_clause(run),
        _numerics_clause(run),
        _unexplained_clause(sums),
    ]
    sentence = "; ".join(clause for clause in clauses if clause)
    return f"{sentence[:1].upper()}{sentence[1:]}."


def _failed_sentence(run: Run, failure: Failure) -> str:
    seen = (
        f"{count_text(len(side.op_calls), 'op call')} of the {side.label} side"
        for side in (run.left, run.right)
        if side.op_calls
    )
    return f"Incomplete. Ended in {failure_text(failure)}. Measured: {' and '.join(seen) or 'nothing'}."


def _structure_clause(run: Run) -> str:
    generated = sum(is_generated(kernel) for kernel in run.right.kernels)
    made = [
        count_text(len(run.right.op_calls), "op call") if run.right.op_calls else "",
        count_text(generated, "generated kernel") if generated else "",
    ]
    became = list_text([part for part in made if part]) or "nothing"
    return f"{count_text(len(run.left.op_calls), 'op call')} became {became}"


def is_generated(kernel: Kernel) -> bool:
    """Return whether the compiler wrote this kernel for the graph it runs in."""
    return kernel.kind in GENERATED_KINDS


def _device_clause(run: Run) -> str:
    if not run.left.kernels:
        return ""
    return f"on the device {count_text(len(run.left.kernels), 'kernel')} became {len(run.right.kernels):,}"


def _copies_clause(lookup: Lookup) -> str:
    copies = sum(
        kernel.kind == "memcpy" and bool(lookup.origin(item).introduced)
        for item, kernel in lookup.right_kernels.items()
    )
    return f"{count_text(copies, 'copy', 'copies')} introduced" if copies else ""


def _bound_clause(lookup: Lookup) -> str:
    """Return what bounds the right side at this size, where a finding says it."""
    found = {finding.id for finding in lookup.diff.findings if finding.side == "right"}
    return next((words for id_, words in _BOUNDS.items() if id_ in found), "")


def _breaks_clause(run: Run) -> str:
    compiler = run.right.compiler
    if compiler is None:
        return ""
    counted = [
        count_text(len(compiler.graph_breaks), "graph break") if compiler.graph_breaks else "",
        count_text(len(compiler.recompiles), "recompile") if compiler.recompiles else "",
    ]
    return list_text([part for part in counted if part])


def _numerics_clause(run: Run) -> str:
    if run.numerics is None or run.numerics.within is None:
        return ""
    return "outputs agree" if run.numerics.within else "outputs differ beyond the tolerance"


def _unexplained_clause(sums: tuple[Sum, ...]) -> str:
    ops, *items = [part.unexplained for part in sums]
    counted = [
        count_text(ops, "op call") if ops else "",
        count_text(sum(items), "compiled item") if sum(items) else "",
    ]
    text = list_text([part for part in counted if part])
    return f"{text} unexplained" if text else "nothing unexplained"


# ---------------------------------------------------------------- in numbers


def make_sums(lookup: Lookup) -> tuple[Sum, ...]:
    """Return the conservation sums: left op calls by fate, right op calls and kernels by origin."""
    left, right = lookup.run.left.label, lookup.run.right.label
    fates = Counter[str](lookup.fate(item).fate for item in lookup.left_items)
    if lookup.diff.comparison is not None:
        return (_sum(f"{left}, op calls and kernels by fate", fates, FATES), *_added(lookup))
    return (
        _sum(f"{left} op calls by fate", fates, FATES),
        _sum(f"{right} op calls by origin", _origins(lookup, list(lookup.right_ops)), ORIGINS),
        _sum(f"{right} kernels by origin", _origins(lookup, list(lookup.right_kernels)), ORIGINS),
    )


def _added(lookup: Lookup) -> tuple[Sum, Sum]:
    """Return the sums of the right side of a comparison."""
    label = lookup.run.right.label
    order = tuple(_COMPARED_ORIGINS.get(origin, origin) for origin in ORIGINS)
    kinds = (("op calls", list(lookup.right_ops)), ("kernels", list(lookup.right_kernels)))
    found = []
    for name, items in kinds:
        counts = Counter(
            {_COMPARED_ORIGINS.get(o, o): n for o, n in _origins(lookup, items).items()}
        )
        found.append(_sum(f"{label}, {name} by origin", counts, order))
    return found[0], found[1]


def _origins(lookup: Lookup, items: list[str]) -> Counter[str]:
    return Counter(origin_kind(lookup, item) for item in items)


def origin_kind(lookup: Lookup, item: str) -> str:
    """Return which of the three origins a right item has: one of `ORIGINS`."""
    origin = lookup.origin(item)
    if is_unexplained(origin):
        return ORIGINS[2]
    return ORIGINS[0] if origin.op_calls else ORIGINS[1]


def _sum(name: str, counts: Counter[str], order: tuple[str, ...]) -> Sum:
    shown = [part for part in order if counts[part] or part == "unexplained"]
    return Sum(name, counts.total(), tuple(Part(part, counts[part]) for part in shown))


def make_metrics(run: Run, timing: TimingView | None) -> tuple[Metric, ...]:
    """Return the numbers that both sides are compared by; those that neither side has are left out."""
    left, right = run.left, run.right
    metrics = [
        _counted("Op calls", len(left.op_calls), len(right.op_calls), "through the dispatcher"),
        _counted("Launches", len(left.launches), len(right.launches), "runtime and driver calls"),
        _counted("Kernels", len(left.kernels), len(right.kernels), kernels_note(run)),
    ]
    if timing:
        first, second = timing.sides
        metrics.append(
            Metric("Time per call", _timed(first), _timed(second), timing.short_speed, _TIME_NOTE)
        )
    metrics += [
        _measured("Device time", device_ns(left), device_ns(right), "sum over kernels, profiled"),
        *(Metric(it.name, it.left, it.right, it.change, it.note) for it in estimated_sums(run)),
        Metric("Peak memory", size_text(left.peak_bytes), size_text(right.peak_bytes)),
    ]
    return tuple(
        metric for metric in metrics if {metric.left, metric.right} not in ({UNKNOWN}, {"0"})
    )


def _times_apart(lookup: Lookup) -> tuple[Metric, ...]:
    """Return the times of a comparison, which say nothing about each other."""
    if lookup.diff.comparison is None:
        return ()
    left, right, change = times(lookup.diff.comparison)
    if left == right == UNKNOWN:
        return ()
    return (Metric("Time per call", left, right, change, _TIME_NOTE),)


def kernels_note(run: Run) -> str:
    """Return what counts as a kernel in this run: a CPU shows only those that Inductor generated."""
    on_cpu = run.right.device.startswith("cpu")
    return "C++ functions generated by Inductor" if on_cpu else "device activities"


def device_ns(capture: Capture) -> int | None:
    """Return the summed duration of a capture's device kernels; None on a CPU, without kernels, and for a plan."""
    planned = capture.basis == "planned"
    if planned or capture.device.startswith("cpu") or not capture.kernels:
        return None
    return sum(kernel.duration_ns for kernel in capture.kernels)


def _counted(name: str, left: int, right: int, note: str) -> Metric:
    change = f"{right - left:+,}" if right != left else "same"
    return Metric(name, f"{left:,}", f"{right:,}", change, note)


def _timed(side: SideTiming) -> str:
    unit = side.median.rpartition(" ")[2]
    return f"{side.median} ({side.interval.removesuffix(f' {unit}')})"


def _measured(name: str, left: int | None, right: int | None, note: str) -> Metric:
    return Metric(name, duration_text(left), duration_text(right), "", note)


def make_notices(run: Run) -> tuple[Notice, ...]:
    """Return all warnings of a run, the run's own first, and one where others kept the machine busy."""
    sides = (
        ("run", run.warnings),
        (run.left.label, run.left.warnings),
        (run.right.label, run.right.warnings),
    )
    busy = (
        ()
        if run.timing is None or run.timing.others_cpu <= BUSIEST_MACHINE
        else (_busy(run.timing),)
    )
    return (
        *busy,
        *(Notice(side, warning.id, warning.text) for side, found in sides for warning in found),
    )


def _busy(timing: Timing) -> Notice:
    text = (
        f"other processes used {percent_text(timing.others_cpu)} of the CPU while both sides were timed: "
        "the times say nothing; measure again on a quiet machine"
    )
    return Notice("run", "busy-machine", text)
