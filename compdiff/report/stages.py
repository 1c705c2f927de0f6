"""What the compiler said. In: Run. Out: phases, graphs with code, pass log, breaks, recompiles and guards as texts."""

from collections.abc import Iterator
from typing import Literal

import msgspec

from compdiff.model import (
    Capture,
    Compilation,
    CompiledGraph,
    GraphBreak,
    PassEvent,
    Run,
    SourceLocation,
)
from compdiff.report.naming import nodes_text, short_path
from compdiff.report.quantities import count_text, duration_text
from compdiff.report.rows import SourceLine, source_line
from compdiff.report.tables import bar_width

Language = Literal["python", "cpp"]


class Code(msgspec.Struct, frozen=True):
    """A piece of code with its language (`python` or `cpp`), its title and its anchor."""

    anchor: str
    title: str
    language: Language
    text: str
    lines: str


class GraphView(msgspec.Struct, frozen=True):
    """One compiled graph: its stages as code, its wrapper, its generated kernels."""

    anchor: str
    title: str
    summary: str
    codes: tuple[Code, ...]


class PassRow(msgspec.Struct, frozen=True):
    """One change that a compiler pass made."""

    graph: str
    stage: str
    name: str
    pattern: str
    location: str
    removed: str
    created: str
    replaced: str


class PhaseRow(msgspec.Struct, frozen=True):
    """One phase of compile time; phases nest, so they do not add up."""

    name: str
    duration: str
    fraction: str


class CompilationView(msgspec.Struct, frozen=True):
    """One frame that Dynamo compiled."""

    compile_id: str
    function: str
    place: str
    phases: tuple[PhaseRow, ...]
    guards: tuple[str, ...]
    cache: str
    skip_reason: str
    failure: str


class BreakView(msgspec.Struct, frozen=True):
    """One graph break with the user's stack, innermost frame last."""

    reason: str
    explanation: str
    compile_id: str
    stack: tuple[SourceLine, ...]


class RecompileView(msgspec.Struct, frozen=True):
    """One compilation after the first of a frame, with the guards that failed."""

    compile_id: str
    reasons: tuple[str, ...]


class CompilerView(msgspec.Struct, frozen=True):
    """Everything the compiler said about one side."""

    label: str
    backend: str
    compilations: tuple[CompilationView, ...]
    graphs: tuple[GraphView, ...]
    passes: tuple[PassRow, ...]
    breaks: tuple[BreakView, ...]
    recompiles: tuple[RecompileView, ...]


def make_compilers(run: Run) -> tuple[CompilerView, ...]:
    """Return what the compiler said about each compiled side, right side first."""
    sides = ((run.right, ""), (run.left, "left-"))
    return tuple(
        _compiler(capture, prefix, run.case.file) for capture, prefix in sides if capture.compiler
    )


def _compiler(capture: Capture, prefix: str, case_file: str) -> CompilerView:
    said = capture.compiler
    assert said is not None  # noqa: S101 (the only caller filters)
    return CompilerView(
        label=capture.label,
        backend=said.backend,
        compilations=tuple(_compilation(item, case_file) for item in said.compilations),
        graphs=tuple(_graph(graph, prefix) for graph in said.graphs),
        passes=tuple(
            _pass(f"{graph.compile_id} {graph.direction}", event)
            for graph in said.graphs
            for event in graph.passes
        ),
        breaks=tuple(_break(item, case_file) for item in said.graph_breaks),
        recompiles=tuple(RecompileView(item.compile_id, item.reasons) for item in said.recompiles),
    )


def _compilation(item: Compilation, case_file: str) -> CompilationView:
    longest = max(item.phases_ns.values(), default=0)
    return CompilationView(
        compile_id=item.compile_id,
        function=item.function,
        place=f"{short_path(item.file, case_file)}:{item.line}" if item.file else "",
        phases=tuple(
            PhaseRow(name.replace("_", " "), duration_text(ns), bar_width(ns, longest))
            for name, ns in sorted(item.phases_ns.items(), key=lambda pair: (-pair[1], pair[0]))
        ),
        guards=item.guards,
        cache=count_text(item.cache_hits, "cache hit"),
        skip_reason=item.cudagraph_skip_reason,
        failure=item.failure,
    )


def _graph(graph: CompiledGraph, prefix: str) -> GraphView:
    generated = [call for call in graph.calls if call.code]
    extern = len(graph.calls) - len(generated)
    return GraphView(
        anchor=f"{prefix}graph-{graph.id}",
        title=f"{graph.compile_id} {graph.direction}",
        summary=f"{count_text(len(generated), 'generated kernel')}, {count_text(extern, 'extern call')}",
        codes=tuple(_codes(graph, prefix)),
    )


def _codes(graph: CompiledGraph, prefix: str) -> Iterator[Code]:
    stages = (
        ("dynamo", "Dynamo graph", graph.dynamo.code if graph.dynamo else ""),
        ("joint", "Joint graph", graph.joint.code if graph.joint else ""),
        ("post-grad", "Post-grad graph", graph.post_grad.code if graph.post_grad else ""),
        ("wrapper", "Inductor wrapper", graph.wrapper_code),
    )
    for stage, title, text in stages:
        if text:
            yield _code(f"{prefix}{stage}-{graph.id}", title, "python", text)
    for call in graph.calls:
        if call.code:
            language: Language = "cpp" if call.kind == "cpp" else "python"
            yield _code(f"{prefix}code-{graph.id}-{call.index}", call.name, language, call.code)


def _code(anchor: str, title: str, language: Language, text: str) -> Code:
    lines = count_text(text.strip("\n").count("\n") + 1, "line")
    return Code(anchor, title, language, text, lines)


def _pass(graph: str, event: PassEvent) -> PassRow:
    return PassRow(
        graph=graph,
        stage=event.stage,
        name=event.pass_name,
        pattern=event.pattern,
        location=event.location,
        removed=nodes_text(event.removed),
        created=nodes_text(event.created),
        replaced=", ".join(f"{old} by {new}" for old, new in sorted(event.replacements.items())),
    )


def _break(item: GraphBreak, case_file: str) -> BreakView:
    return BreakView(
        reason=item.reason,
        explanation=item.explanation,
        compile_id=item.compile_id,
        stack=tuple(_frame(frame, case_file) for frame in item.stack),
    )


def _frame(frame: SourceLocation, case_file: str) -> SourceLine:
    line = source_line(frame, case_file)
    assert line is not None  # noqa: S101 (a location that is there has a line)
    return line
