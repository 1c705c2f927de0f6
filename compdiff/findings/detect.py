"""What a run and its diff say beside the device's timeline. In: both. Out: what was seen, with side, numbers, items."""

from collections.abc import Iterator

from compdiff.findings.seen import Seen
from compdiff.model import Diff, Run
from compdiff.timing import speedup, summary, verdict


def numerics_differ(run: Run, _: Diff) -> Iterator[Seen]:
    """See outputs beyond the tolerance."""
    numerics = run.numerics
    if numerics is not None and numerics.within is False and numerics.between is not None:
        numbers: dict[str, int | float | str] = {
            "max_abs": numerics.between.max_abs,
            "max_rel": numerics.between.max_rel,
        }
        yield Seen("difference", numbers)


def compiled_slower(run: Run, _: Diff) -> Iterator[Seen]:
    """See a verdict of slower."""
    if run.timing is not None and verdict(run.timing) == "slower":
        yield Seen("difference", {"speedup": round(speedup(run.timing).median, 3)})


def graph_breaks(run: Run, _: Diff) -> Iterator[Seen]:
    """See graph breaks."""
    breaks = run.right.compiler.graph_breaks if run.right.compiler else ()
    if breaks:
        yield Seen("right", {"count": len(breaks), "first": breaks[0].reason})


def recompiles(run: Run, _: Diff) -> Iterator[Seen]:
    """See recompilations."""
    found = run.right.compiler.recompiles if run.right.compiler else ()
    if found:
        yield Seen(
            "right", {"count": len(found), "first": found[0].reasons[0] if found[0].reasons else ""}
        )


def seeded_outputs(_: Run, diff: Diff) -> Iterator[Seen]:
    """See addmm calls whose output is seeded with a copied bias."""
    seeded = [rewrite for rewrite in diff.rewrites if rewrite.outcome == "seeded-output"]
    if seeded:
        items = (item for rewrite in seeded for item in rewrite.right)
        yield Seen("right", {"count": len(seeded)}, tuple(items))


def introduced_copies(_: Run, diff: Diff) -> Iterator[Seen]:
    """See right items that only copy, and that no left op call asked for."""
    items = [
        item
        for item, origin in diff.origins.items()
        if "copies" in origin.introduced or "copy" in origin.introduced
    ]
    if items:
        yield Seen("right", {"count": len(items)}, tuple(items))


def recomputed(_: Run, diff: Diff) -> Iterator[Seen]:
    """See op calls whose work several kernels do."""
    ops = sorted(
        {op for origin in diff.origins.values() for op in origin.recomputed},
        key=lambda op: int(op[1:]),
    )
    if ops:
        yield Seen("right", {"count": len(ops)}, tuple(ops))


def random_numbers(_: Run, diff: Diff) -> Iterator[Seen]:
    """See random ops that Inductor's generator replaces."""
    ops = [op for rewrite in diff.rewrites if rewrite.rule == "rng-replaced" for op in rewrite.left]
    if ops:
        yield Seen("difference", {"count": len(ops)}, tuple(ops))


def cudagraph_skips(run: Run, _: Diff) -> Iterator[Seen]:
    """See compilations that were to be CUDA graphs and are not."""
    compilations = run.right.compiler.compilations if run.right.compiler else ()
    for compilation in compilations:
        if compilation.cudagraph_skip_reason:
            yield Seen(
                "right",
                {"graph": compilation.compile_id, "reason": compilation.cudagraph_skip_reason},
            )


def break_even(run: Run, _: Diff) -> Iterator[Seen]:
    """See how many calls pay for the compile, where the compiled side is faster."""
    compilations = run.right.compiler.compilations if run.right.compiler else ()
    spent_ns = sum(compilation.phases_ns.get("dynamo", 0) for compilation in compilations)
    if run.timing is None or not spent_ns or verdict(run.timing) != "faster":
        return
    saved_ns = summary(run.timing.left).median_ns - summary(run.timing.right).median_ns
    if saved_ns > 0:
        yield Seen(
            "difference",
            {
                "calls": -(-spent_ns // saved_ns),
                "compile_ns": spent_ns,
                "saved_per_call_ns": saved_ns,
            },
        )
