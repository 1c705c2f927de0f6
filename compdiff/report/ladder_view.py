"""The ladder as final texts. In: Ladder. Out: LadderPage, from which table, page and terminal are written.

What noise may make is never told as a difference: a change is named only with a verdict of faster or slower.
"""

import msgspec

from compdiff.ladder.records import Change, CudaGraph, Ladder, PartChange, Payback, Rung, Speed
from compdiff.report.ladder_bars import LadderBars, draw_bars
from compdiff.report.ladder_parts import LABELS, PartTable, make_part_table
from compdiff.report.quantities import (
    UNKNOWN,
    count_text,
    duration_text,
    interval_text,
    list_text,
    percent_text,
    ratio_text,
    size_text,
)
from compdiff.timing import BUSIEST_MACHINE

_GRAPHS = {
    "replayed": "replayed",
    "planned": "would be replayed",
    "skipped": "no",
    "not seen": "not seen",
    "not asked": "not asked for",
}

_PLANNED_NOTE = (
    "nothing was run on a GPU: kernels and launches are counted, device work is a roofline estimate, and there are no "
    "times to split"
)


class RungRow(msgspec.Struct, frozen=True):
    """One rung as the table shows it; `href` leads to its own report and is empty where there is none."""

    name: str
    what: str
    href: str
    failure: str
    step: str
    spread: str
    speed: str
    verdict: str
    op_calls: str
    kernels: str
    launches: str
    work: str
    traffic: str
    cuda_graph: str
    reasons: tuple[str, ...]
    compile_time: str
    payback: str
    notes: tuple[str, ...]


class ChangeView(msgspec.Struct, frozen=True):
    """From one rung to the next in words; `verdict` is that of the time of a step, "" where there is none."""

    title: str
    verdict: str
    sentences: tuple[str, ...]


class LadderPage(msgspec.Struct, frozen=True):
    """The parts of the page, in the order in which they are shown."""

    case: str
    summary: str
    basis: str
    device: str
    planned: bool
    sentence: str
    rungs: tuple[RungRow, ...]
    changes: tuple[ChangeView, ...]
    parts: PartTable | None
    bars: LadderBars | None
    notices: tuple[str, ...]
    environment: tuple[tuple[str, str], ...]


def make_ladder_page(ladder: Ladder, report: str) -> LadderPage:
    """Return everything that the page shows; `report` is the name of the report in a rung's folder."""
    planned = ladder.basis == "planned"
    return LadderPage(
        case=ladder.case,
        summary=ladder.summary,
        basis=ladder.basis,
        device=", ".join(part for part in (ladder.device, ladder.device_name) if part),
        planned=planned,
        sentence=_sentence(ladder),
        rungs=tuple(_row(rung, report) for rung in ladder.rungs),
        changes=tuple(_change(change, ladder) for change in ladder.changes),
        parts=make_part_table(ladder),
        bars=draw_bars(ladder),
        notices=_notices(ladder),
        environment=tuple((name, value) for name, value in ladder.environment.items() if value),
    )


def _sentence(ladder: Ladder) -> str:
    """Return all rungs in one sentence: against eager mode where they were timed, else by kernels and launches."""
    eager, *others = ladder.rungs
    start = _duration(eager) or _planned_counts(eager) or "not measured"
    texts = [f"{rung.name} {_in_short(rung)}" for rung in others]
    return f"Eager mode: {start}. {'; '.join(texts)}."


def _in_short(rung: Rung) -> str:
    if rung.failure:
        return "failed"
    return speed_words(rung.speed) if rung.speed else _planned_counts(rung) or "not timed"


def _duration(rung: Rung) -> str:
    return f"{duration_text(rung.step.median_ns)} a call" if rung.step else ""


def _planned_counts(rung: Rung) -> str:
    if rung.counts is None or rung.work is None:
        return ""
    kernels = count_text(rung.counts.kernels, "kernel")
    return f"{kernels} in {count_text(rung.counts.launches, 'launch', 'launches')}, {duration_text(rung.work.ns)} estimated"


def speed_words(speed: Speed) -> str:
    """Return how fast the later rung is, without the interval: never more than is known."""
    words = {
        "faster": f"{ratio_text(speed.median)}x faster",
        "slower": f"{ratio_text(1 / speed.median)}x slower",
        "same": "as fast within noise",
        "unclear": "speed unclear",
    }
    return words[speed.verdict]


def noise_text(noise: float) -> str:
    """Return a relative difference as a percentage, a large one as a factor."""
    return percent_text(noise) if noise < 1 else f"a factor of {ratio_text(1 + noise)}"


def payback_text(payback: Payback | None) -> str:
    """Return after how many calls compiling has paid back, with its interval; why not where it has not."""
    if payback is None or payback.state == "unknown" or payback.calls is None:
        words = {"never": "never", "unclear": "unclear"}
        return words.get(payback.state, UNKNOWN) if payback else UNKNOWN
    interval = f" ({payback.low:,} to {payback.high:,})" if payback.low != payback.high else ""
    return f"{payback.calls:,}{interval}"


def _row(rung: Rung, report: str) -> RungRow:
    step, counts, work = rung.step, rung.counts, rung.work
    return RungRow(
        name=rung.name,
        what=rung.what,
        href=f"{rung.folder}/{report}" if rung.folder else "",
        failure=rung.failure,
        step=_interval(step.median_ns, step.low_ns, step.high_ns) if step else UNKNOWN,
        spread=interval_text(step.least_ns, step.most_ns) if step else UNKNOWN,
        speed=speed_words(rung.speed) if rung.speed else UNKNOWN,
        verdict=rung.speed.verdict if rung.speed else "",
        op_calls=f"{counts.op_calls:,}" if counts else UNKNOWN,
        kernels=f"{counts.kernels:,}" if counts else UNKNOWN,
        launches=f"{counts.launches:,}" if counts else UNKNOWN,
        work=duration_text(work.ns) if work else UNKNOWN,
        traffic=size_text(work.bytes_moved) if work else UNKNOWN,
        cuda_graph=_GRAPHS[rung.cuda_graph.state] if rung.cuda_graph else UNKNOWN,
        reasons=rung.cuda_graph.reasons if rung.cuda_graph else (),
        compile_time=duration_text(rung.payback.compile_ns or None) if rung.payback else UNKNOWN,
        payback=payback_text(rung.payback),
        notes=rung.notes,
    )


# ---------------------------------------------------------------- in words


def _change(change: Change, ladder: Ladder) -> ChangeView:
    rungs = {rung.name: rung for rung in ladder.rungs}
    before, after = rungs[change.before], rungs[change.after]
    sentences = (
        _speed_sentence(change.speed),
        _counts_sentence(before, after),
        _work_sentence(before, after),
        *_part_sentences(change.parts),
        _code_sentence(change),
        _graph_sentence(after.cuda_graph),
        *after.notes,
    )
    return ChangeView(
        title=f"{change.before} -> {change.after}",
        verdict=change.speed.verdict if change.speed else "",
        sentences=tuple(text for text in sentences if text),
    )


def _speed_sentence(speed: Speed | None) -> str:
    if speed is None:
        return ""
    noise = "" if speed.noise is None else f"; noise alone may make {noise_text(speed.noise)}"
    low, high = (
        (1 / speed.high, 1 / speed.low) if speed.verdict == "slower" else (speed.low, speed.high)
    )
    bounds = f"{ratio_text(low)} to {ratio_text(high)}"
    if speed.verdict in {"faster", "slower"}:
        return f"{speed_words(speed)} ({bounds}{noise})"
    return f"{speed_words(speed)} (before / after {bounds}{noise})"


def _counts_sentence(before: Rung, after: Rung) -> str:
    """Return the counts that differ: they are no samples, and have no noise."""
    if before.counts is None or after.counts is None:
        return ""
    names = (("op_calls", "op calls"), ("kernels", "kernels"), ("launches", "launches"))
    pairs = (
        (label, getattr(before.counts, name), getattr(after.counts, name)) for name, label in names
    )
    texts = [f"{label} {left:,} -> {right:,}" for label, left, right in pairs if left != right]
    return list_text(texts) or "as many op calls, kernels and launches"


def _work_sentence(before: Rung, after: Rung) -> str:
    if before.work is None or after.work is None:
        return ""
    device = _estimated("device work", duration_text(before.work.ns), duration_text(after.work.ns))
    traffic = _estimated(
        "memory traffic", size_text(before.work.bytes_moved), size_text(after.work.bytes_moved)
    )
    return f"estimated {device}, {traffic}"


def _estimated(name: str, before: str, after: str) -> str:
    """Return an estimate of two rungs; one that reads the same is told once."""
    return f"{name} {before} -> {after}" if before != after else f"{name} the same ({after})"


def _part_sentences(parts: tuple[PartChange, ...]) -> tuple[str, ...]:
    sure = [part for part in parts if part.verdict in {"faster", "slower"}]
    sure.sort(key=lambda part: -abs(part.after_ns - part.before_ns))
    same = [LABELS[part.name] for part in parts if part.verdict == "same"]
    unclear = [LABELS[part.name] for part in parts if part.verdict == "unclear"]
    return (
        list_text([_part_text(part) for part in sure]),
        f"the same: {list_text(same)}" if same else "",
        f"not told apart from noise: {list_text(unclear)}" if unclear else "",
    )


def _part_text(part: PartChange) -> str:
    before, after = (duration_text(ns) if ns else "none" for ns in (part.before_ns, part.after_ns))
    return f"{LABELS[part.name]} {before} -> {after}"


def _code_sentence(change: Change) -> str:
    return "the same generated code" if change.same_code else ""


def _graph_sentence(graph: CudaGraph | None) -> str:
    if graph is None or graph.state == "not asked":
        return ""
    words = {
        "replayed": "replayed as a CUDA graph",
        "planned": "would be replayed as a CUDA graph (copies of inputs into its buffers are not counted)",
        "skipped": "no CUDA graph",
        "not seen": "a CUDA graph was asked for; none was seen, and Inductor gave no reason",
    }
    reasons = f" ({'; '.join(graph.reasons)})" if graph.reasons else ""
    return f"{words[graph.state]}{reasons}"


def _interval(median_ns: int, low_ns: int, high_ns: int) -> str:
    median = duration_text(median_ns)
    unit = median.rpartition(" ")[2]
    return f"{median} ({interval_text(low_ns, high_ns).removesuffix(f' {unit}')})"


def _notices(ladder: Ladder) -> tuple[str, ...]:
    """Return what the reader must know of how this was made."""
    if ladder.basis == "planned":
        return (_PLANNED_NOTE,)
    texts = []
    if ladder.others_cpu > BUSIEST_MACHINE:
        texts.append(
            f"other processes used up to {percent_text(ladder.others_cpu)} of the CPU while the sides were timed: "
            "the times say nothing; measure again on a quiet machine"
        )
    if len(ladder.eager_ns) > 1:
        low, high = min(ladder.eager_ns), max(ladder.eager_ns)
        noise = (
            ""
            if ladder.process_noise is None
            else f": two rungs that differ by less than {noise_text(ladder.process_noise)} are not told apart"
        )
        texts.append(
            f"eager mode was timed beside each rung, with medians from {interval_text(low, high)}{noise}"
        )
    return tuple(texts)
