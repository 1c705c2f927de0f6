"""Golden runs changed by hand. In: a golden run. Out: the same run as another compiler would have left it."""

from pathlib import Path

import msgspec

from compdiff.analysis import analyse
from compdiff.model import (
    CompiledGraph,
    Compiler,
    Diff,
    GraphBreak,
    Kernel,
    OpCall,
    Recompile,
    Run,
    WrapperCall,
)
from compdiff.store import read_run
from tests.builders import at

GOLDEN = Path(__file__).parent / "golden" / "cpu"

replace = msgspec.structs.replace


def golden(case: str) -> Run:
    """Return the golden run of a shipped case on the CPU."""
    return read_run(GOLDEN / f"{case}.run.json.gz")


def planned_golden(case: str) -> tuple[Run, Diff]:
    """Return the golden plan of a shipped case for an H200, with its diff."""
    run = read_run(GOLDEN.parent / "h200" / f"{case}.run.json.gz")
    return run, analyse(run)


def with_split_kernel(run: Run, kernel: Kernel, *parts: tuple[str, frozenset[str]]) -> Run:
    """Return the run with one generated kernel split into parts, each with a name and the nodes it computes."""
    (graph,) = _compiler(run).graphs
    rest = tuple(
        replace(call, nodes=()) if call.index == kernel.call else call for call in graph.calls
    )
    start = len(graph.calls)
    calls = tuple(
        WrapperCall(index=start + i, name=name, kind="cpp", nodes=tuple(nodes), code=f"void {name}")
        for i, (name, nodes) in enumerate(parts)
    )
    first = len(run.right.kernels)
    kernels = tuple(
        Kernel(id=first + i, name=call.name, kind="cpp", graph=graph.id, call=call.index)
        for i, call in enumerate(calls)
    )
    others = tuple(other for other in run.right.kernels if other.id != kernel.id)
    changed = with_graphs(run, replace(graph, calls=(*rest, *calls)))
    return replace(changed, right=replace(changed.right, kernels=(*others, *kernels)))


def with_graphs(run: Run, *graphs: CompiledGraph) -> Run:
    """Return the run with these compiled graphs."""
    return replace(run, right=replace(run.right, compiler=replace(_compiler(run), graphs=graphs)))


def with_other_code(run: Run, old: str, new: str) -> Run:
    """Return the run with one text of its generated code replaced."""
    graphs = (
        replace(
            graph,
            calls=tuple(replace(call, code=call.code.replace(old, new)) for call in graph.calls),
        )
        for graph in _compiler(run).graphs
    )
    return with_graphs(run, *graphs)


def uncompiled(run: Run) -> Run:
    """Return the run as if the backend had run each op call as eager mode does."""
    compiler = Compiler(backend="eager")
    right = replace(
        run.right, op_calls=run.left.op_calls, kernels=(), call_order=(), compiler=compiler
    )
    return replace(run, right=right)


def with_op_call(run: Run, index: int, call: OpCall) -> Run:
    """Return the run with one more eager op call before the one at `index`, on the left side only."""
    calls = [*run.left.op_calls[:index], call, *run.left.op_calls[index:]]
    numbered = tuple(replace(each, id=number) for number, each in enumerate(calls))
    return replace(run, left=replace(run.left, op_calls=numbered))


def with_break(run: Run, reason: str) -> Run:
    """Return the run with one more graph break."""
    added = GraphBreak(reason=reason, stack=(at("cases/case.py", 7, "    if x.sum() > 0:"),))
    compiler = _compiler(run)
    return replace(
        run,
        right=replace(
            run.right, compiler=replace(compiler, graph_breaks=(*compiler.graph_breaks, added))
        ),
    )


def with_recompile(run: Run, reason: str) -> Run:
    """Return the run with a recompile of frame 0."""
    added = Recompile(compile_id="0/1", reasons=(reason,))
    return replace(
        run, right=replace(run.right, compiler=replace(_compiler(run), recompiles=(added,)))
    )


def _compiler(run: Run) -> Compiler:
    assert run.right.compiler is not None
    return run.right.compiler
