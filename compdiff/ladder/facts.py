"""What one capture does in a step. In: a Capture, what its run was asked for. Out: counts, CUDA graphs, estimated work."""

from compdiff.kernels import replays_a_graph
from compdiff.ladder.records import Counts, CudaGraph, Work
from compdiff.lanes.device import on_device
from compdiff.model import GRAPH_SKIPPED, Capture, Kernel, Run
from compdiff.work import side_work

_MODES_WITH_GRAPHS = frozenset({"reduce-overhead", "max-autotune"})
_PLANNED = "cuda-graph"


def counts_of(capture: Capture, cuda_graph: CudaGraph | None) -> Counts:
    """Return what a step of this capture does, in numbers."""
    compiler = capture.compiler
    return Counts(
        op_calls=len(capture.op_calls),
        kernels=len(capture.kernels),
        launches=_launches(capture, cuda_graph),
        graphs=len(compiler.graphs) if compiler else 0,
        graph_breaks=len(compiler.graph_breaks) if compiler else 0,
    )


def cuda_graph_of(run: Run) -> CudaGraph:
    """Return whether the compiled side runs as CUDA graphs, as far as the run shows it."""
    reasons = _reasons(run.right)
    if any(replays_a_graph(launch.name) for launch in run.right.launches):
        return CudaGraph(state="replayed", reasons=reasons)
    if any(warning.id == _PLANNED for warning in run.warnings):
        return CudaGraph(state="planned", reasons=reasons)
    if reasons:
        return CudaGraph(state="skipped", reasons=reasons)
    if not _asks_for_graphs(run):
        return CudaGraph(state="not asked")
    if run.right.device.startswith("cpu"):
        return CudaGraph(state="skipped", reasons=("a CPU has no CUDA graphs",))
    return CudaGraph(state="not seen")


def _reasons(capture: Capture) -> tuple[str, ...]:
    """Return why graphs are not replayed, each once."""
    compilations = capture.compiler.compilations if capture.compiler else ()
    texts = (
        *(it.cudagraph_skip_reason for it in compilations),
        *(it.text for it in capture.warnings if it.id == GRAPH_SKIPPED),
    )
    return tuple(dict.fromkeys(_without_stack(text) for text in texts if text))


def _without_stack(reason: str) -> str:
    """Return a reason without the place in the user's code, which Inductor adds on further lines."""
    return reason.partition("\n")[0].partition(". Found from")[0].strip()


def work_of(capture: Capture) -> Work | None:
    """Return the estimated work of a planned side, None for any other and where a kernel has no estimate."""
    found = side_work(capture)
    if found is None:
        return None
    return Work(flops=found.flops, bytes_moved=found.bytes_moved, ns=found.ns)


def compile_ns(run: Run) -> int:
    """Return how long the compiler worked, forward and backward, without the first run of what it made."""
    compiler = run.right.compiler
    compilations = compiler.compilations if compiler else ()
    return sum(
        it.phases_ns.get("dynamo", 0) + it.phases_ns.get("backward", 0) for it in compilations
    )


def code_of(capture: Capture) -> tuple[tuple[str, str, str], ...] | None:
    """Return the calls of all generated wrappers with their code, None where nothing was generated."""
    compiler = capture.compiler
    if compiler is None or not any(graph.wrapper_code for graph in compiler.graphs):
        return None
    return tuple(
        (call.kind, call.name, call.code) for graph in compiler.graphs for call in graph.calls
    )


def _asks_for_graphs(run: Run) -> bool:
    return run.options.mode in _MODES_WITH_GRAPHS or bool(
        run.options.options.get("triton.cudagraphs")
    )


def _launches(capture: Capture, cuda_graph: CudaGraph | None) -> int:
    """Return the launches seen; for a plan one for each kernel outside CUDA graphs, and one for each of these."""
    if capture.basis != "planned":
        return len(capture.launches)
    kernels = on_device(capture)
    if cuda_graph is None or cuda_graph.state != "planned":
        return len(kernels)
    replayed = _replayed_graphs(capture)
    homes = [_graph_of(capture, kernel) for kernel in kernels]
    return sum(home not in replayed for home in homes) + len({*homes} & replayed)


def _replayed_graphs(capture: Capture) -> set[int | None]:
    """Return the compiled graphs that Inductor gave no reason against replaying."""
    compiler = capture.compiler
    skipped = {
        it.compile_id
        for it in (compiler.compilations if compiler else ())
        if it.cudagraph_skip_reason
    }
    graphs = compiler.graphs if compiler else ()
    return {graph.id for graph in graphs if graph.compile_id not in skipped}


def _graph_of(capture: Capture, kernel: Kernel) -> int | None:
    if kernel.graph is not None or kernel.op_call is None:
        return kernel.graph
    return capture.op_calls[kernel.op_call].graph
