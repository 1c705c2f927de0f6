"""A TORCH_TRACE log as a compiler's account. In: a path. Out: a CompilerLog: graphs, calls, passes, breaks, recompiles."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from compdiff.compile_log import CompileLog, compile_id
from compdiff.errors import FormatError
from compdiff.importers.torch_trace.assemble import compiled_graphs
from compdiff.importers.torch_trace.files import HINT, LogFile, read_log_file
from compdiff.importers.torch_trace.frames import Frame
from compdiff.importers.torch_trace.fx_code import read_graph_code
from compdiff.importers.torch_trace.records import LogRecord, Records, parse_json, read_records
from compdiff.model import CaptureWarning, Compiler, Graph, GraphBreak, SourceLocation

# Records whose payload is the code of a graph, by what compdiff calls it. Source: torch/_dynamo/output_graph.py,
# torch/_functorch/_aot_autograd/graph_compile.py, torch/_inductor/compile_fx.py (torch 2.14; older names as in old logs).
_GRAPHS = {
    "dynamo_output_graph": "dynamo",
    "aot_joint_graph": "joint",
    "aot_inference_graph": "joint",
    "aot_forward_graph": "partitioned",
    "aot_backward_graph": "partitioned",
    "before_post_grad_graph": "pre_post_grad",
    "after_post_grad_graph": "post_grad",
    "inductor_post_grad_graph": "post_grad",
}
_MAPPINGS = "inductor_provenance_tracking_node_mappings"


@dataclass(frozen=True)
class CompilerLog:
    """What one log says: the compiler's account, torch's version, and what a reader must know of the log."""

    compiler: Compiler
    torch: str = ""
    warnings: tuple[CaptureWarning, ...] = ()


@dataclass
class _Reader:
    """The records of a log by the compilation that they belong to."""

    log: CompileLog = field(default_factory=lambda: CompileLog(read_files=False))
    frames: dict[str, Frame] = field(default_factory=dict)
    odd: Counter[str] = field(default_factory=Counter)
    torch: str = ""


def read_torch_trace(path: Path, member: str = "") -> CompilerLog:
    """Return what a TORCH_TRACE log says; of a folder the log with `member` in its name, else the first.

    Raises:
        FormatError: there is no such file, or no record of a structured log in it.
    """
    file = read_log_file(path, member)
    records = read_records(file.data)
    if not records.items:
        expected = "`V0131 12:00:00.0 1 torch/x.py:1] {...}`"
        message = f"{path}: {file.name} is no TORCH_TRACE log: no line of it is a record such as {expected}"
        raise FormatError(message, HINT)
    reader = _Reader(odd=records.odd)
    for record in records.items:
        _add(reader, record, records.strings)
    graphs, by_names = compiled_graphs(reader.frames)
    compiler = Compiler(
        backend="inductor",
        compilations=reader.log.compilations(),
        graphs=graphs,
        graph_breaks=tuple(reader.log.graph_breaks),
        recompiles=tuple(reader.log.recompiles),
    )
    return CompilerLog(compiler, reader.torch, tuple(_warnings(file, records, by_names)))


def _add(reader: _Reader, record: LogRecord, strings: Mapping[int, str]) -> None:
    metadata, payload = record.metadata, record.payload
    breaks = len(reader.log.graph_breaks)
    reader.log.add(metadata, payload)
    if len(reader.log.graph_breaks) > breaks and not reader.log.graph_breaks[-1].stack:
        reader.log.graph_breaks[-1] = _with_stack(reader.log.graph_breaks[-1], metadata, strings)
    name = _name(metadata)
    identity = compile_id(metadata)
    if name == "chromium_event":
        _json(reader, payload)
    elif name == "torch_version":
        reader.torch = str(_json(reader, payload).get("pytorch_version", ""))
    elif name in {*_GRAPHS, "inductor_output_code", _MAPPINGS}:
        if not identity:
            reader.odd["graphs without a compile id"] += 1
        elif payload is not None:
            _add_to_frame(reader, identity, name, payload)


def _add_to_frame(reader: _Reader, identity: str, name: str, payload: str) -> None:
    frame = reader.frames.setdefault(identity, Frame(identity))
    if name == "dynamo_output_graph" and frame.dynamo is not None:
        # Dynamo starts a frame anew when it must, and counts from 0 again after a reset: the last one is what runs.
        reader.odd["compilations that were made anew under the same id, the last one is read"] += 1
        frame = reader.frames[identity] = Frame(identity)
    adders: dict[str, Callable[[], None]] = {
        "inductor_output_code": lambda: frame.add_code(payload),
        _MAPPINGS: lambda: frame.add_mappings(_json(reader, payload)),
    }
    if name in adders:
        adders[name]()
        return
    try:
        nodes = read_graph_code(payload)
    except ValueError:
        reader.odd["graphs whose code cannot be read"] += 1
        nodes = ()
    backward = name == "aot_backward_graph"
    frame.add_graph(
        Graph(stage=_GRAPHS[name], nodes=nodes, code=payload.strip()), backward=backward
    )


def _name(metadata: Mapping[str, object]) -> str:
    """Return what kind of record it is: the artifact's name, or the first key that is no place or id."""
    artifact = metadata.get("artifact")
    if isinstance(artifact, Mapping):
        return str(artifact.get("name", ""))
    return next((key for key in metadata if key in _GRAPHS or key in _OTHERS), "")


_OTHERS = frozenset({"chromium_event", "inductor_output_code"})


def _json(reader: _Reader, payload: str | None) -> Mapping[str, object]:
    """Return an object of JSON; damaged, it is counted and empty."""
    try:
        found = parse_json(payload) if payload is not None else {}
    except ValueError:
        reader.odd["payloads whose JSON is damaged"] += 1
        return {}
    return found if isinstance(found, dict) else {}


def _with_stack(
    found: GraphBreak, metadata: Mapping[str, object], strings: Mapping[int, str]
) -> GraphBreak:
    """Return the break with the stack of its record, whose file names stand in the table of strings."""
    frames = metadata.get("stack")
    stack = [
        SourceLocation(
            file=strings.get(frame["filename"], ""),
            line=frame["line"] if 0 <= frame["line"] < 2**31 else 0,
            function=str(frame.get("name", "")),
            text=str(frame.get("loc") or ""),
        )
        for frame in (frames if isinstance(frames, list) else [])
        if isinstance(frame, dict)
        and isinstance(frame.get("filename"), int)
        and isinstance(frame.get("line"), int)
    ]
    return msgspec.structs.replace(found, stack=tuple(stack))


def _warnings(
    file: LogFile, records: Records, by_names: Mapping[str, int]
) -> Iterator[CaptureWarning]:
    if file.others:
        shown = ", ".join(file.others[:5])
        text = f"{file.name} was read; beside it are {shown}: choose with --member"
        yield CaptureWarning(id="other-torch-traces", text=text)
    for what, count in sorted(records.odd.items()):
        yield CaptureWarning(id="odd-torch-trace", text=f"{count:,} {what}, in {file.name}")
    names = {_name(record.metadata) for record in records.items}
    hint = "" if _MAPPINGS in names else "; with INDUCTOR_PROVENANCE=1 torch writes them down"
    for compiled, count in sorted(by_names.items()):
        text = (
            f"the log names no graph nodes for {count:,} calls of {compiled}: they are found by names and data flow"
            f"{hint}"
        )
        yield CaptureWarning(id="calls-by-names", text=text)
