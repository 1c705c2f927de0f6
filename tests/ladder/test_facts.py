"""What one rung does in a step."""

import msgspec
import pytest

from compdiff.ladder.facts import code_of, compile_ns, counts_of, cuda_graph_of, work_of
from compdiff.ladder.records import CudaGraph
from compdiff.model import CaptureWarning, CompileOptions, Estimate, Kernel, Run
from tests.builders import capture, compiler, graph, op, run, wrapper_call
from tests.ladder.examples import rung_run, with_compilation
from tests.variants import golden, planned_golden

ESTIMATE = Estimate(flops=10, bytes_read=3, bytes_written=4, ns=2_000, bound="launch")
GRAPHS = CaptureWarning(id="cuda-graph", text="a compiled graph would be replayed")


def planned(skip: str = "", *warnings: CaptureWarning) -> Run:
    """Return a plan: two kernels in a graph, one of them by an op call, and one outside."""
    kernel = Kernel(id=0, name="k", kind="library", estimate=ESTIMATE)
    replace = msgspec.structs.replace
    right = capture(
        "compiled",
        (op(0, graph=7), op(1)),
        (
            replace(kernel, graph=7),
            replace(kernel, id=1, op_call=0),
            replace(kernel, id=2, op_call=1),
        ),
        basis="planned",
        device="cuda:0",
        compiler=compiler((graph(7),)),
    )
    made = run(capture(basis="planned"), right, warnings=warnings)
    return with_compilation(made, cudagraph_skip_reason=skip) if skip else made


def test_counts_of_a_measured_side() -> None:
    """Launches are those that were seen."""
    counts = counts_of(rung_run("default").right, None)
    assert (counts.op_calls, counts.kernels, counts.launches, counts.graphs) == (1, 2, 2, 1)


def test_planned_launches_are_counted() -> None:
    """One for each kernel; with CUDA graphs one for each graph, and one for each kernel outside."""
    plain, graphs = planned(), planned("", GRAPHS)
    assert counts_of(plain.right, cuda_graph_of(plain)).launches == 3
    assert counts_of(graphs.right, cuda_graph_of(graphs)).launches == 2


def test_graphs_with_a_reason_are_not_replayed() -> None:
    """A graph that Inductor skips keeps a launch for each kernel, though another one is replayed."""
    mixed = planned("mutated inputs", GRAPHS)
    assert cuda_graph_of(mixed) == CudaGraph(state="planned", reasons=("mutated inputs",))
    assert counts_of(mixed.right, cuda_graph_of(mixed)).launches == 3


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (rung_run("default"), CudaGraph(state="not asked")),
        (rung_run("reduce-overhead"), CudaGraph(state="replayed")),
        (planned("mutated inputs"), CudaGraph(state="skipped", reasons=("mutated inputs",))),
        (
            rung_run("default", options=CompileOptions(options={"triton.cudagraphs": True})),
            CudaGraph(state="not seen"),
        ),
        (
            run(options=CompileOptions(mode="max-autotune")),
            CudaGraph(state="skipped", reasons=("a CPU has no CUDA graphs",)),
        ),
    ],
)
def test_whether_kernels_run_as_a_graph(made: Run, expected: CudaGraph) -> None:
    """What was seen comes first, then Inductor's reason, then what was asked for."""
    assert cuda_graph_of(made) == expected


def test_reasons_of_the_log_count() -> None:
    """What Inductor says only when the code runs is a reason too, once, without the user's stack."""
    told = "skipping cudagraphs due to mutated inputs (1 instances). Found from : \n   File one.py"
    warnings = (
        CaptureWarning(id="cuda-graph-skipped", text=told),
        CaptureWarning(id="x", text="y"),
    )
    made = with_compilation(rung_run("default"), cudagraph_skip_reason=told)
    made = msgspec.structs.replace(
        made, right=msgspec.structs.replace(made.right, warnings=warnings)
    )
    reason = "skipping cudagraphs due to mutated inputs (1 instances)"
    assert cuda_graph_of(made) == CudaGraph(state="skipped", reasons=(reason,))


def test_work_is_planned_only() -> None:
    """A measured side has no estimate."""
    found = work_of(planned().right)
    assert found is not None
    assert (found.flops, found.bytes_moved, found.ns) == (30, 21, 6_000)
    assert work_of(rung_run("default").right) is None


def test_compile_time_has_both_directions() -> None:
    """A backward pass that is compiled later counts too."""
    made = with_compilation(rung_run("default"), phases_ns={"dynamo": 5, "backward": 2, "x": 9})
    assert compile_ns(made) == 7
    assert compile_ns(run()) == 0


def test_generated_code() -> None:
    """It is the calls of the wrappers; code that differs differs, and where none was generated there is none."""
    first, second = (
        capture(compiler=compiler((graph(calls=(wrapper_call(0, "cpp_fused", code),)),)))
        for code in ("a", "b")
    )
    assert code_of(first) == (("cpp", "cpp_fused", "a"),)
    assert code_of(first) != code_of(second)
    plain = compiler((msgspec.structs.replace(graph(), wrapper_code=""),))
    assert code_of(capture(compiler=plain)) is None
    assert code_of(capture()) is None


def test_golden_runs_have_facts() -> None:
    """A measured and a planned run of a shipped case: nothing of them is left unread."""
    measured, (plan, _) = golden("linear"), planned_golden("linear-size64")
    assert compile_ns(measured) > 0
    assert code_of(measured.right) is not None
    assert counts_of(plan.left, None).launches == len(plan.left.kernels) > 0
