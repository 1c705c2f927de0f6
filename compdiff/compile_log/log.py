"""The structured compile trace (what TORCH_TRACE writes). In: its records. Out: compilations, breaks, recompiles.

Source: torch/_logging/structured.py and the `artifact` names in torch/_dynamo (torch 2.13, 2.14); docs of tlparse.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from compdiff.model import Compilation, GraphBreak, Recompile
from compdiff.source import is_user_file, parse_stack, shown, shown_path

# Phase of compile time -> field of CompilationMetrics (microseconds), torch/_dynamo/utils.py.
PHASES = (
    ("dynamo", "dynamo_cumulative_compile_time_us"),
    ("aot_autograd", "aot_autograd_cumulative_compile_time_us"),
    ("joint_passes", "joint_graph_pass_time_us"),
    ("post_grad_passes", "post_grad_pass_time_us"),
    ("inductor", "inductor_cumulative_compile_time_us"),
    ("code_generation", "inductor_code_gen_cumulative_compile_time_us"),
    ("triton", "triton_compile_time_us"),
    ("backward", "backward_cumulative_compile_time_us"),
)
_GUARD = re.compile(r"^[|+\- ]*(?P<guard>[A-Z][A-Z_]+: .*)$")
_REASON = re.compile(r"Graph Break Reason: (?P<reason>.*?)(?:\n  Explanation: |\Z)", re.DOTALL)
_EXPLANATION = re.compile(r"^\s*Explanation: (?P<text>.*)$", re.MULTILINE)


@dataclass
class CompileLog:
    """Collects records as torch emits them; `started` counts the compilations that have begun.

    `read_files` is whether the files that records name are those of this machine, so that their lines may be shown.
    """

    read_files: bool = True
    started: int = 0
    graph_breaks: list[GraphBreak] = field(default_factory=list)
    recompiles: list[Recompile] = field(default_factory=list)
    _guards: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _metrics: dict[str, list[Mapping[str, object]]] = field(default_factory=dict)
    _skips: dict[str, str] = field(default_factory=dict)

    def add(self, metadata: Mapping[str, object], payload: str | None) -> None:
        """Take one record of the structured trace."""
        identity = compile_id(metadata)
        if "dynamo_start" in metadata:
            self.started += metadata.get("attempt") == 0
        elif "compilation_metrics" in metadata:
            self._add_metrics(identity, metadata["compilation_metrics"])
        elif "dynamo_cpp_guards_str" in metadata:
            self._guards[identity] = guard_lines(payload or "")
        elif "artifact" in metadata:
            self._add_artifact(identity, metadata["artifact"], payload or "")

    def compilations(self) -> tuple[Compilation, ...]:
        """Return the frames that were compiled, in order, each with the phases of its forward and backward."""
        return tuple(
            _compilation(
                identity, records, self._guards.get(identity, ()), self._skips.get(identity, "")
            )
            for identity, records in self._metrics.items()
        )

    def _add_metrics(self, identity: str, metrics: object) -> None:
        if isinstance(metrics, Mapping):
            self._metrics.setdefault(str(metrics.get("compile_id") or identity), []).append(metrics)

    def _add_artifact(self, identity: str, artifact: object, payload: str) -> None:
        name = artifact.get("name") if isinstance(artifact, Mapping) else None
        readers: dict[object, Callable[[str, str], None]] = {
            "dynamo_graph_break_reason": self._add_break,
            "recompile_reasons": self._add_recompile,
            "cudagraph_skip": self._add_skip,
        }
        reader = readers.get(name)
        if reader is not None:
            reader(identity, payload)

    def _add_break(self, identity: str, payload: str) -> None:
        self.graph_breaks.append(graph_break(identity, payload, read_files=self.read_files))

    def _add_recompile(self, identity: str, payload: str) -> None:
        self.recompiles.append(Recompile(compile_id=identity, reasons=recompile_reasons(payload)))

    def _add_skip(self, identity: str, payload: str) -> None:
        self._skips[identity] = payload


def guard_lines(payload: str) -> tuple[str, ...]:
    """Return the leaf guards of a printed guard tree, one text each, without the tree's drawing."""
    matches = (_GUARD.match(line) for line in payload.splitlines())
    return tuple(match["guard"].strip() for match in matches if match)


def graph_break(identity: str, payload: str, *, read_files: bool = True) -> GraphBreak:
    """Return the graph break that Dynamo describes in `payload`, with the user's stack."""
    reason = _REASON.search(payload)
    explanation = _EXPLANATION.search(payload)
    _, _, after = payload.partition("User code traceback:")
    user_part = after.partition("\nTraceback (most recent call last):")[0]
    frames = tuple(
        shown(frame)
        for frame in parse_stack(user_part, read_files=read_files)
        if is_user_file(frame.file)
    )
    return GraphBreak(
        reason=_short(reason["reason"] if reason else payload),
        explanation=explanation["text"].strip() if explanation else "",
        compile_id=identity,
        stack=frames,
    )


def recompile_reasons(payload: str) -> tuple[str, ...]:
    """Return the failed guards; torch writes one as text and several as a JSON list."""
    try:
        reasons = json.loads(payload)
    except (ValueError, RecursionError):
        return (payload.strip(),)
    found = reasons if isinstance(reasons, list) else [reasons]
    return tuple(str(reason).encode(errors="replace").decode() for reason in found)


def _short(reason: str) -> str:
    """Return the part of a reason that says what happened, in one line."""
    lines = [line.strip() for line in reason.strip().splitlines() if line.strip()]
    return lines[-1] if lines else ""


def compile_id(metadata: Mapping[str, object]) -> str:
    """Return the id of the compilation that a record belongs to (`0/0`: frame, recompile), or ""."""
    frame, recompile = metadata.get("frame_id"), metadata.get("frame_compile_id")
    return f"{frame}/{recompile}" if frame is not None else ""


def _compilation(
    identity: str, records: list[Mapping[str, object]], guards: tuple[str, ...], skip: str
) -> Compilation:
    first = records[0]
    return Compilation(
        compile_id=identity,
        function=str(first.get("co_name") or ""),
        file=shown_path(str(first.get("co_filename") or "")),
        line=_int(first.get("co_firstlineno")),
        guards=guards,
        phases_ns={
            phase: total
            for phase, name in PHASES
            if (total := 1000 * sum(_int(record.get(name)) for record in records))
        },
        cache_hits=sum(_int(record.get("inductor_fx_local_cache_hit_count")) for record in records),
        cudagraph_skip_reason=skip or str(first.get("cudagraph_skip_reason") or ""),
        failure=str(first.get("fail_reason") or ""),
    )


def _int(value: object) -> int:
    """Return a count or a time as it is, and 0 for what cannot be one."""
    return value if isinstance(value, int) and 0 <= value < 2**53 else 0
