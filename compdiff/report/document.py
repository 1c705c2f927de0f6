"""diff.json for scripts (schema `compdiff.diff/1`). In: Run, Diff, failed expectations. Out: canonical JSON bytes.

Two runs of a case give the same document but for what varies by nature. That stands only in fields named `*_ns`, in
`speedup` and `verdict`, in the numbers of findings, and in `environment`.
"""

import msgspec

from compdiff import timing as statistics
from compdiff.analysis import unexplained
from compdiff.model import (
    DIFF_SCHEMA,
    Capture,
    CaptureWarning,
    Diff,
    Environment,
    Fate,
    Finding,
    Numerics,
    Origin,
    OutputError,
    Rewrite,
    Run,
    Samples,
)
from compdiff.report.comparison_document import ComparisonDoc, comparison_document
from compdiff.report.headline import Sum, device_ns, make_sums
from compdiff.report.lookup import Lookup
from compdiff.report.missed_document import (
    MissedDoc,
    WhyNotDoc,
    missed_documents,
    why_not_document,
)
from compdiff.report.timings import sampled
from compdiff.rewrites.changes import stable_text
from compdiff.work import Work, rewrite_works, side_work


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """Base of the document's parts: every field is written, null where nothing is known."""


class Spread(Part, frozen=True, kw_only=True):
    """A median with its 95 % interval."""

    median: int
    ci95: tuple[int, int]


class WorkDoc(Part, frozen=True, kw_only=True):
    """The estimated work of some kernels of a plan: never measured."""

    kernels: int
    flops: int
    bytes_moved: int
    ns: int


class ExchangeDoc(Part, frozen=True, kw_only=True):
    """The estimated work of the kernels before and after a rewrite."""

    before: WorkDoc
    after: WorkDoc


class SideDoc(Part, frozen=True, kw_only=True):
    """One side in numbers."""

    label: str
    basis: str
    device: str
    op_calls: int
    launches: int
    kernels: int
    device_ns: int | None
    wall_ns: Spread | None
    peak_bytes: int | None
    estimated: WorkDoc | None


class Unexplained(Part, frozen=True, kw_only=True):
    """How much nothing explains: left op calls, and right items (op calls and kernels)."""

    op_calls: int
    kernels: int


class Speedup(Part, frozen=True, kw_only=True):
    """Left time over right time; `noise_floor`, null if unmeasured, is left's relative difference from left."""

    median: float
    ci95: tuple[float, float]
    noise_floor: float


class RewriteDoc(Part, frozen=True, kw_only=True):
    """One rewrite, as in the model, `by_pass` being called `pass`."""

    id: str
    rule: str
    by_pass: str = msgspec.field(name="pass")
    location: str
    left: tuple[str, ...]
    shared: tuple[str, ...]
    right: tuple[str, ...]
    source: str
    why: str
    outcome: str
    outcome_why: str
    evidence: tuple[str, ...]
    estimated: ExchangeDoc | None


class FateDoc(Part, frozen=True, kw_only=True):
    """What became of a left op call."""

    fate: str
    rewrite: str | None
    why: str


class OriginDoc(Part, frozen=True, kw_only=True):
    """Where a right item came from."""

    op_calls: tuple[str, ...]
    introduced: str
    recomputed: tuple[str, ...]


class FindingDoc(Part, frozen=True, kw_only=True):
    """A diagnosis with its numbers; `timed` ones rest on times and may come and go from run to run."""

    id: str
    side: str
    title: str
    timed: bool
    numbers: dict[str, int | float | str]
    items: tuple[str, ...]


class BreakDoc(Part, frozen=True, kw_only=True):
    """A graph break; `source` is the innermost frame of the user's stack."""

    reason: str
    explanation: str
    compile_id: str
    source: str


class RecompileDoc(Part, frozen=True, kw_only=True):
    """A recompile with the guards that failed."""

    compile_id: str
    reasons: tuple[str, ...]


class ErrorDoc(Part, frozen=True, kw_only=True):
    """Largest absolute and relative difference."""

    max_abs: float
    max_rel: float


class NumericsDoc(Part, frozen=True, kw_only=True):
    """`max_abs` and `max_rel` compare the sides with each other; `left` and `right` compare each with float64."""

    max_abs: float | None
    max_rel: float | None
    within: bool | None
    comparable: bool
    note: str
    tensors: int
    rtol: float
    atol: float
    left: ErrorDoc | None
    right: ErrorDoc | None


class SamplesDoc(Part, frozen=True, kw_only=True):
    """One side's samples: how many, and what they say."""

    blocks: int
    calls_per_block: int
    median: int
    ci95: tuple[int, int]


class SampledDoc(Part, frozen=True, kw_only=True):
    """Both sides' samples, what ended the sampling, and the share of the CPU that others used meanwhile, 0 to 1."""

    left: SamplesDoc
    right: SamplesDoc
    warmup_calls: int
    stopped_by: str
    others_cpu: float


class TimingDoc(Part, frozen=True, kw_only=True):
    """How the times were taken; what varies from run to run stands in `samples_ns`."""

    stopping_rule: str
    samples_ns: SampledDoc


class SumDoc(Part, frozen=True, kw_only=True):
    """A conservation sum: the parts add up to the total."""

    total: int
    parts: dict[str, int]


class ConservationDoc(Part, frozen=True, kw_only=True):
    """Left op calls by fate, right op calls and kernels by origin."""

    op_calls: SumDoc
    right_op_calls: SumDoc
    kernels: SumDoc


class WarningDoc(Part, frozen=True, kw_only=True):
    """A warning of the run or of one side."""

    side: str
    id: str
    text: str


class FailureDoc(Part, frozen=True, kw_only=True):
    """Why the run is incomplete."""

    stage: str
    message: str


class ExpectationsDoc(Part, frozen=True, kw_only=True):
    """Whether the case's expectations hold; null when it has none."""

    hold: bool | None
    failures: tuple[str, ...]


class Document(Part, frozen=True, kw_only=True):
    """The whole of diff.json."""

    schema: str
    case: str
    params: dict[str, int | float | str | bool | None]
    left: SideDoc
    right: SideDoc
    unexplained: Unexplained
    conservation: ConservationDoc
    speedup: Speedup | None
    verdict: str | None
    timing: TimingDoc | None
    comparison: ComparisonDoc | None
    rewrites: tuple[RewriteDoc, ...]
    missed: tuple[MissedDoc, ...]
    why_not: WhyNotDoc | None
    fates: dict[str, FateDoc]
    origins: dict[str, OriginDoc]
    findings: tuple[FindingDoc, ...]
    graph_breaks: tuple[BreakDoc, ...]
    recompiles: tuple[RecompileDoc, ...]
    numerics: NumericsDoc | None
    expectations: ExpectationsDoc
    warnings: tuple[WarningDoc, ...]
    failure: FailureDoc | None
    environment: Environment


def encode_document(run: Run, diff: Diff, expectation_failures: tuple[str, ...] = ()) -> bytes:
    """Return diff.json: sorted keys, one-space indent, a newline at the end; infinity and NaN become null."""
    document = make_document(run, diff, expectation_failures)
    plain = msgspec.json.encode(document, order="sorted")
    return msgspec.json.format(plain, indent=1) + b"\n"


def make_document(run: Run, diff: Diff, expectation_failures: tuple[str, ...] = ()) -> Document:
    """Return the document for a run."""
    ops, items = unexplained(diff)
    compiler = run.right.compiler
    timing = sampled(run)
    works = rewrite_works(run, diff)
    return Document(
        schema=DIFF_SCHEMA,
        case=run.case.name,
        params=run.case.params,
        left=_side(run.left, timing.left if timing else None),
        right=_side(run.right, timing.right if timing else None),
        unexplained=Unexplained(op_calls=ops, kernels=items),
        conservation=_conservation(make_sums(Lookup(run, diff))),
        speedup=_speedup(run),
        verdict=statistics.verdict(timing) if timing else None,
        timing=_timing(run),
        comparison=comparison_document(diff.comparison) if diff.comparison else None,
        rewrites=tuple(_rewrite(rewrite, works.get(rewrite.id)) for rewrite in diff.rewrites),
        missed=missed_documents(diff.missed),
        why_not=why_not_document(diff.why_not),
        fates={item: _fate(fate) for item, fate in diff.fates.items()},
        origins={item: _origin(origin) for item, origin in diff.origins.items()},
        findings=tuple(_finding(finding) for finding in diff.findings),
        graph_breaks=_breaks(run) if compiler else (),
        recompiles=_recompiles(run) if compiler else (),
        numerics=_numerics(run.numerics) if run.numerics else None,
        expectations=ExpectationsDoc(
            hold=None if run.expectation is None or run.failure else not expectation_failures,
            failures=expectation_failures,
        ),
        warnings=_warnings(run),
        failure=_failure(run),
        environment=run.environment,
    )


def _side(capture: Capture, samples: Samples | None) -> SideDoc:
    return SideDoc(
        label=capture.label,
        basis=capture.basis,
        device=capture.device,
        op_calls=len(capture.op_calls),
        launches=len(capture.launches),
        kernels=len(capture.kernels),
        device_ns=device_ns(capture),
        wall_ns=_spread(samples) if samples else None,
        peak_bytes=capture.peak_bytes,
        estimated=_work(side_work(capture)),
    )


def _work(work: Work | None) -> WorkDoc | None:
    if work is None:
        return None
    return WorkDoc(kernels=work.kernels, flops=work.flops, bytes_moved=work.bytes_moved, ns=work.ns)


def _exchange(works: tuple[Work, Work] | None) -> ExchangeDoc | None:
    before, after = (_work(work) for work in works) if works else (None, None)
    if before is None or after is None:
        return None
    return ExchangeDoc(before=before, after=after)


def _spread(samples: Samples) -> Spread:
    interval = statistics.summary(samples)
    return Spread(median=interval.median_ns, ci95=(interval.low_ns, interval.high_ns))


def _conservation(sums: tuple[Sum, ...]) -> ConservationDoc:
    documents = [
        SumDoc(total=one.total, parts={part.name: part.count for part in one.parts}) for one in sums
    ]
    return ConservationDoc(op_calls=documents[0], right_op_calls=documents[1], kernels=documents[2])


def _speedup(run: Run) -> Speedup | None:
    timing = sampled(run)
    if timing is None:
        return None
    ratio = statistics.speedup(timing)
    floor = statistics.noise_floor(timing)
    return Speedup(median=ratio.median, ci95=(ratio.low, ratio.high), noise_floor=floor)


def _timing(run: Run) -> TimingDoc | None:
    timing = sampled(run)
    if timing is None:
        return None
    document = SampledDoc(
        left=_samples(timing.left),
        right=_samples(timing.right),
        warmup_calls=timing.warmup_calls,
        stopped_by=timing.stopped_by,
        others_cpu=timing.others_cpu,
    )
    return TimingDoc(stopping_rule=timing.stopping_rule, samples_ns=document)


def _samples(samples: Samples) -> SamplesDoc:
    spread = _spread(samples)
    return SamplesDoc(
        blocks=len(samples.ns_per_call),
        calls_per_block=samples.calls,
        median=spread.median,
        ci95=spread.ci95,
    )


def _rewrite(rewrite: Rewrite, works: tuple[Work, Work] | None) -> RewriteDoc:
    return RewriteDoc(
        id=rewrite.id,
        rule=rewrite.rule,
        by_pass=rewrite.by_pass,
        location=rewrite.location,
        left=rewrite.left,
        shared=rewrite.shared,
        right=rewrite.right,
        source=rewrite.source,
        why=rewrite.why,
        outcome=rewrite.outcome,
        outcome_why=rewrite.outcome_why,
        evidence=tuple(stable_text(text) for text in rewrite.evidence),
        estimated=_exchange(works),
    )


def _fate(fate: Fate) -> FateDoc:
    return FateDoc(fate=fate.fate, rewrite=fate.rewrite, why=fate.why)


def _origin(origin: Origin) -> OriginDoc:
    return OriginDoc(
        op_calls=origin.op_calls, introduced=origin.introduced, recomputed=origin.recomputed
    )


def _finding(finding: Finding) -> FindingDoc:
    return FindingDoc(
        id=finding.id,
        side=finding.side,
        title=finding.title,
        timed=finding.timed,
        numbers=finding.numbers,
        items=finding.items,
    )


def _breaks(run: Run) -> tuple[BreakDoc, ...]:
    breaks = run.right.compiler.graph_breaks if run.right.compiler else ()
    return tuple(
        BreakDoc(
            reason=stable_text(item.reason),
            explanation=stable_text(item.explanation),
            compile_id=item.compile_id,
            source=f"{item.stack[-1].file}:{item.stack[-1].line}" if item.stack else "",
        )
        for item in breaks
    )


def _recompiles(run: Run) -> tuple[RecompileDoc, ...]:
    recompiles = run.right.compiler.recompiles if run.right.compiler else ()
    return tuple(
        RecompileDoc(
            compile_id=item.compile_id, reasons=tuple(stable_text(text) for text in item.reasons)
        )
        for item in recompiles
    )


def _numerics(numerics: Numerics) -> NumericsDoc:
    between = numerics.between
    return NumericsDoc(
        max_abs=between.max_abs if between else None,
        max_rel=between.max_rel if between else None,
        within=numerics.within,
        comparable=numerics.comparable,
        note=stable_text(numerics.note),
        tensors=numerics.tensors,
        rtol=numerics.rtol,
        atol=numerics.atol,
        left=_error(numerics.left),
        right=_error(numerics.right),
    )


def _error(error: OutputError | None) -> ErrorDoc | None:
    return ErrorDoc(max_abs=error.max_abs, max_rel=error.max_rel) if error else None


def _warnings(run: Run) -> tuple[WarningDoc, ...]:
    sides = (("run", run.warnings), ("left", run.left.warnings), ("right", run.right.warnings))
    return tuple(_warning(side, warning) for side, found in sides for warning in found)


def _warning(side: str, warning: CaptureWarning) -> WarningDoc:
    return WarningDoc(side=side, id=warning.id, text=stable_text(warning.text))


def _failure(run: Run) -> FailureDoc | None:
    if run.failure is None:
        return None
    return FailureDoc(stage=run.failure.stage, message=stable_text(run.failure.message))
