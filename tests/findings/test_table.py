"""Tests over the table of findings, and of what they are read from."""

import re

import msgspec
import pytest

from compdiff.findings.engine import find
from compdiff.findings.table import FINDINGS, FindingRule
from compdiff.model import (
    Capture,
    CaseInfo,
    Compilation,
    CompileOptions,
    Compiler,
    Diff,
    Environment,
    GraphBreak,
    Numerics,
    Origin,
    OutputError,
    Recompile,
    Rewrite,
    Run,
    Samples,
    Timing,
)
from tests.findings.timelines import TIMELINES

_EMPTY_DIFF = Diff(left_label="eager", right_label="compiled")


def _capture(**fields: object) -> Capture:
    return Capture(label="side", basis="measured", device="cuda", **fields)  # type: ignore[arg-type]


def _timing(left_ns: int, right_ns: int) -> Timing:
    def samples(value: int) -> Samples:
        return Samples(ns_per_call=tuple(value + step for step in range(20)), calls=1)

    return Timing(
        left=samples(left_ns),
        right=samples(right_ns),
        noise_a=samples(left_ns),
        noise_b=samples(left_ns),
    )


def _run(**fields: object) -> Run:
    settings: dict[str, object] = {"left": _capture(), "right": _capture(), **fields}
    case = CaseInfo(name="case", file="case.py")
    return Run(case=case, environment=Environment(), options=CompileOptions(), **settings)  # type: ignore[arg-type]


def _compiled(**fields: object) -> Capture:
    return _capture(compiler=Compiler(backend="inductor", **fields))  # type: ignore[arg-type]


_SHOWN: dict[str, tuple[Run, Diff]] = {
    "numerics-differ": (
        _run(
            numerics=Numerics(
                comparable=True, within=False, between=OutputError(max_abs=1.0, max_rel=0.5)
            )
        ),
        _EMPTY_DIFF,
    ),
    "compiled-slower": (_run(timing=_timing(1000_000, 2000_000)), _EMPTY_DIFF),
    **TIMELINES,
    "graph-breaks": (
        _run(right=_compiled(graph_breaks=(GraphBreak(reason="print"),))),
        _EMPTY_DIFF,
    ),
    "recompiles": (
        _run(right=_compiled(recompiles=(Recompile(compile_id="0/1", reasons=("size",)),))),
        _EMPTY_DIFF,
    ),
    "bias-seed-copy": (
        _run(),
        msgspec.structs.replace(
            _EMPTY_DIFF,
            rewrites=(
                Rewrite(
                    id="r1",
                    rule="mm-add-to-addmm",
                    left=("e0",),
                    right=("c0",),
                    outcome="seeded-output",
                ),
            ),
        ),
    ),
    "introduced-copies": (
        _run(),
        msgspec.structs.replace(
            _EMPTY_DIFF, origins={"k0": Origin(introduced="copies an input of aten::mm (c0)")}
        ),
    ),
    "recomputed": (
        _run(),
        msgspec.structs.replace(
            _EMPTY_DIFF, origins={"k1": Origin(op_calls=("e0",), recomputed=("e0",))}
        ),
    ),
    "random-numbers-differ": (
        _run(),
        msgspec.structs.replace(
            _EMPTY_DIFF, rewrites=(Rewrite(id="r1", rule="rng-replaced", left=("e0",)),)
        ),
    ),
    "cuda-graph-skipped": (
        _run(
            right=_compiled(
                compilations=(
                    Compilation(compile_id="0/0", cudagraph_skip_reason="mutated inputs"),
                )
            )
        ),
        _EMPTY_DIFF,
    ),
    "break-even": (
        _run(
            timing=_timing(2000_000, 1000_000),
            right=_compiled(
                compilations=(Compilation(compile_id="0/0", phases_ns={"dynamo": 10**9}),)
            ),
        ),
        _EMPTY_DIFF,
    ),
}


@pytest.mark.parametrize("row", FINDINGS, ids=lambda row: row.id)
def test_row_is_complete(row: FindingRule) -> None:
    """Each row has a kebab-case id and sentences for the reader."""
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", row.id)
    assert row.means.endswith(".")
    assert row.advice.endswith(".")
    assert row.source


@pytest.mark.parametrize("row", FINDINGS, ids=lambda row: row.id)
def test_row_is_found_where_it_shows_and_nowhere_else(row: FindingRule) -> None:
    """A run made to show one finding shows that one, and a run without anything shows none."""
    run, diff = _SHOWN[row.id]
    assert [finding.id for finding in find(run, diff).findings] == [row.id]
    assert find(_run(), _EMPTY_DIFF).findings == ()


def test_break_even_counts_calls() -> None:
    """One second of compiling at one millisecond saved a call pays after a thousand calls."""
    run, diff = _SHOWN["break-even"]
    assert find(run, diff).findings[0].numbers["calls"] == 1000
