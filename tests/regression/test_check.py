"""What `check` says of runs: each kind of regression has a clear line, and nothing changed is nothing said."""

import msgspec
import pytest

from compdiff.model import Failure, Numerics, OutputError, Run
from compdiff.regression.check import Given, Result, check_case, without_runs
from compdiff.regression.config import Config, Limits
from compdiff.regression.structure import stanza_of
from tests.builders import timing
from tests.variants import (
    golden,
    planned_golden,
    uncompiled,
    with_break,
    with_recompile,
    with_split_kernel,
)

replace = msgspec.structs.replace


def checked(before: Run, after: Run, config: Config | None = None) -> Result:
    """Return the result of a run against the lock and baseline that another run left."""
    return check_case(Given([after], [before], stanza_of(before)), config or Config())


def texts(result: Result) -> list[str]:
    """Return the sentences of the problems."""
    return [problem.text for problem in result.problems]


def test_a_lost_rewrite() -> None:
    """A lost mm-add-to-addmm is told with what its op calls run as now, on their source line."""
    run = golden("linear")
    result = checked(run, uncompiled(run))
    assert result.status == "failed"
    assert texts(result)[0] == (
        "mm-add-to-addmm (seeded-output) lost (of aten::mm and aten::add.Tensor); "
        "aten::add.Tensor now runs by itself; aten::mm now runs by itself"
    )
    assert result.problems[0].rule == "rewrite-lost"
    assert result.problems[0].line == 24
    assert "+  1 aten::mm: aten::mm" in result.lines


def split(run: Run) -> Run:
    """Return the run of mlp_geglu with its fused kernel as two."""
    (kernel,) = run.right.kernels
    gelu = frozenset({"mul_2", "mul", "add", "erf", "mul_1"})
    parts = (("cpp_fused_gelu_0", gelu), ("cpp_fused_mul_1", frozenset({"mul_3"})))
    return with_split_kernel(run, kernel, *parts)


def test_an_extra_kernel() -> None:
    """A fusion that is lost says which op call is its own kernel now."""
    run = golden("mlp_geglu")
    result = checked(run, split(run))
    assert result.status == "failed"
    text = texts(result)[0]
    assert text.startswith("pointwise-fusion lost (of aten::gelu and aten::mul.Tensor)")
    assert "aten::gelu is now its own kernel cpp_fused_gelu" in text
    assert "aten::mul.Tensor is now its own kernel cpp_fused_mul" in text


def test_a_new_graph_break() -> None:
    """A graph break is told with its reason."""
    run = golden("softmax")
    result = checked(run, with_break(run, "Data-dependent branching"))
    assert texts(result) == ["graph break gained: Data-dependent branching"]


def test_a_new_recompile() -> None:
    """A recompile is told with the guard that failed, without the number of its line."""
    run = golden("softmax")
    result = checked(run, with_recompile(run, "L['x'].size()[0] == 8  # /home/me/case.py:12 in fn"))
    assert texts(result) == ["recompile gained: 0/1 because L['x'].size()[0] == 8 # case.py in fn"]


def test_a_slowdown() -> None:
    """A tenth slower beside eager mode is told with ratio, interval and limits."""
    run = golden("linear")
    before = replace(run, timing=timing(1_000_000, 800_000))
    after = replace(run, timing=timing(1_000_000, 880_000))
    result = checked(before, after)
    (text,) = texts(result)
    assert text.startswith("slower by 10.0 %: 1.100x the time before (1.0")
    assert result.problems[0].rule == "time-slower"


def with_error(run: Run, error: float, *, within: bool = True) -> Run:
    """Return the run with another error of the compiled side against float64."""
    assert run.numerics is not None
    wrong = OutputError(max_abs=error, max_rel=error)
    return replace(run, numerics=replace(run.numerics, right=wrong, between=wrong, within=within))


def test_a_numerics_drift() -> None:
    """Outputs that are still within the tolerance, but less exact than before, are told."""
    run = golden("softmax")
    result = checked(run, with_error(run, 3e-5))
    (text,) = texts(result)
    assert text.startswith("error against float64 grew from")
    assert result.problems[0].rule == "numerics-drifted"


def test_wrong_outputs_need_no_baseline() -> None:
    """Outputs beyond the tolerance fail with the lock alone."""
    run = with_error(golden("softmax"), 0.5, within=False)
    result = check_case(Given([run], (), stanza_of(run)), Config())
    assert texts(result) == [
        "eager and compiled outputs differ by up to 0.5, more than the tolerance"
    ]


def test_outputs_that_cannot_be_compared_are_no_drift() -> None:
    """Random outputs have no error to compare."""
    run = golden("softmax")
    assert checked(run, replace(run, numerics=Numerics(comparable=False))).status == "passed"


def test_memory_that_grew() -> None:
    """A peak that is a tenth higher is told."""
    run = golden("softmax")
    runs = [replace(run, right=replace(run.right, peak_bytes=size)) for size in (1000, 1100)]
    assert texts(checked(runs[0], runs[1])) == [
        "peak memory grew by 10.0 % (to 1100 bytes), more than 5 %"
    ]


@pytest.mark.parametrize("name", ["linear", "training_step", "graph_break", "mlp_geglu"])
def test_an_unchanged_case_passes_a_hundred_times(name: str) -> None:
    """The same run passes each time, with equal results."""
    run = golden(name)
    given = Given([run], [run], stanza_of(run))
    first = check_case(given, Config())
    assert (first.status, first.problems, first.lines) == ("passed", (), ())
    for _ in range(99):
        assert check_case(given, Config()) == first


def test_a_plan_is_checked_without_times() -> None:
    """A plan for a GPU is checked by its structure, and its estimates are never judged as times."""
    run, _ = planned_golden("mlp_geglu")
    result = checked(run, run)
    assert (result.status, result.where, result.time) == ("passed", "h200", None)


def test_another_torch_is_a_note() -> None:
    """The lock of another torch is compared; that it is another one stands beside."""
    run = golden("softmax")
    other = replace(run, environment=replace(run.environment, torch="2.15.0+cu130"))
    result = checked(run, other)
    assert result.status == "passed"
    assert "torch 2.14.1 -> 2.15.0" in result.notes


def test_a_case_that_is_not_in_the_lock() -> None:
    """A new case fails until it is locked."""
    result = check_case(Given([golden("softmax")]), Config())
    assert [problem.rule for problem in result.problems] == ["case-new"]


def test_a_case_that_is_only_in_the_lock() -> None:
    """A case that is gone is told, but not for a place that was not checked."""
    run = golden("softmax")
    lock = {
        stanza_of(one).key: stanza_of(one)
        for one in (run, golden("cse"), planned_golden("dropout")[0])
    }
    assert [one.case for one in without_runs(lock, [checked(run, run)])] == ["cse"]


def test_allowed_changes_fail_nothing() -> None:
    """A pattern of the settings takes a problem out, and it is told as allowed."""
    run = golden("softmax")
    config = Config(allow=["softmax: graph break gained: *"])
    result = checked(run, with_break(run, "Data-dependent branching"), config)
    assert (result.status, len(result.allowed)) == ("passed", 1)


def test_limits_hold_whatever_the_lock_says() -> None:
    """A count beyond a limit fails though the lock has it."""
    run = golden("graph_break")
    config = Config(limits=Limits(graph_breaks=0), case={"softmax": {"graph_breaks": 1}})
    assert texts(checked(run, run, config)) == ["1 graph breaks, at most 0 are allowed"]


def test_a_case_has_limits_of_its_own() -> None:
    """The table of a case replaces single limits of all."""
    run = golden("graph_break")
    config = Config(limits=Limits(graph_breaks=0), case={"graph_break": {"graph_breaks": 1}})
    assert checked(run, run, config).status == "passed"


def test_a_run_that_failed_is_an_error() -> None:
    """A run that ended early cannot be judged."""
    run = replace(golden("softmax"), failure=Failure(stage="compile", message="no\nmore"))
    result = check_case(Given([run]), Config())
    assert (result.status, texts(result)) == ("error", ["ended in compile: no"])
