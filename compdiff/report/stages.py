"""What the compiler said. In: Run. Out: phases, graphs with code, pass log, breaks, recompiles and guards as texts."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
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
from compdiff.report.lookup import code_anchors
from compdiff.report.naming import nodes_text, short_path
from compdiff.report.quantities import count_text, duration_text
from compdiff.report.rows import SourceLine, source_line
from compdiff.report.tables import bar_width

Language = Literal["python", "cpp"]
_DIGITS = re.compile(r"\d+")


class Code(msgspec.Struct, frozen=True):
    """A piece of code with its language (`python` or `cpp`), its title and its anchor; `lines` says how long it is."""

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
    """One change that a compiler pass made; `again` counts those that differ in numbers of nodes only."""

    graph: str
    stage: str
    name: str
    pattern: str
    location: str
    removed: str
    created: str
    replaced: str
    again: str = ""


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
    """Everything the compiler said about one side; `changes` counts those of the passes, of which equal ones share a row."""

    label: str
    backend: str
    compilations: tuple[CompilationView, ...]
    graphs: tuple[GraphView, ...]
    changes: int
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
        graphs=tuple(_graph(graph, prefix, code_anchors(said, prefix)) for graph in said.graphs),
        changes=sum(len(graph.passes) for graph in said.graphs),
        passes=_passes(said.graphs),
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


def _graph(graph: CompiledGraph, prefix: str, anchors: Mapping[tuple[int, int], str]) -> GraphView:
    generated = [call for call in graph.calls if call.code]
    extern = len(graph.calls) - len(generated)
    return GraphView(
        anchor=f"{prefix}graph-{graph.id}",
        title=f"{graph.compile_id} {graph.direction}",
        summary=f"{count_text(len(generated), 'generated kernel')}, {count_text(extern, 'extern call')}",
        codes=tuple(_codes(graph, prefix, anchors)),
    )


def _codes(
    graph: CompiledGraph, prefix: str, anchors: Mapping[tuple[int, int], str]
) -> Iterator[Code]:
    """Yield the stages and the code of generated kernels; that which several calls share where it comes first."""
    stages = (
        ("dynamo", "Dynamo graph", graph.dynamo.code if graph.dynamo else ""),
        ("joint", "Joint graph", graph.joint.code if graph.joint else ""),
        ("post-grad", "Post-grad graph", graph.post_grad.code if graph.post_grad else ""),
        ("wrapper", "Inductor wrapper", graph.wrapper_code),
    )
    for stage, title, text in stages:
        if text:
            yield _code(f"{prefix}{stage}-{graph.id}", title, "python", text)
    uses = Counter(anchors.values())
    for call in graph.calls:
        anchor = f"{prefix}code-{graph.id}-{call.index}"
        if anchor in uses:
            language: Language = "cpp" if call.kind == "cpp" else "python"
            yield _code(anchor, call.name, language, call.code, uses[anchor])


def _code(anchor: str, title: str, language: Language, text: str, uses: int = 1) -> Code:
    lines = count_text(text.strip("\n").count("\n") + 1, "line")
    shared = f", of {uses:,} calls" if uses > 1 else ""
    return Code(anchor, title, language, text, f"{lines}{shared}")


def _passes(graphs: Iterable[CompiledGraph]) -> tuple[PassRow, ...]:
    """Return the changes in order; those that differ in numbers of nodes only share the row of the first."""
    rows: dict[object, list[PassRow]] = {}
    for graph in graphs:
        for event in graph.passes:
            row = _pass(f"{graph.compile_id} {graph.direction}", event)
            rows.setdefault(_DIGITS.sub("#", repr(row)), []).append(row)
    return tuple(
        msgspec.structs.replace(same[0], again=f"x {len(same):,}" if len(same) > 1 else "")
        for same in rows.values()
    )


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
