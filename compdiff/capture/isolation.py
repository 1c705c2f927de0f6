"""Runs a case in a child process. In: a Request. Out: a Run, even if the case crashes or hangs.

Children are forked from a server that imports torch once (multiprocessing's forkserver); the parent
never does. Each child leads its own session, to be ended together with all that it started.
"""

import contextlib
import multiprocessing
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from time import monotonic, sleep

import msgspec

from compdiff.capture import child
from compdiff.capture.message import Message, decode, run_of
from compdiff.errors import CaptureError
from compdiff.model import Failure, Request, Run

MEASURE = "compdiff.capture.measure:measure"
PLAN = "compdiff.capture.plan.session:plan"

_PRELOADED = "compdiff.capture.preloaded"
_STACKS_WAIT_S = 2.0
_EXIT_WAIT_S = 5.0
_PROBE_TIMEOUT_S = 120.0
_POLL_S = 0.05
_KINETO_SILENT = "99"  # Source: libkineto/src/Logger.h; above every severity
_STAT_PARENT, _STAT_SESSION = 1, 3  # fields of /proc/PID/stat after the name. Source: proc(5)
_SIGNALS = {
    signal.SIGKILL: "was killed (SIGKILL): probably out of memory",
    signal.SIGSEGV: "crashed with a segmentation fault (SIGSEGV)",
    signal.SIGABRT: "aborted (SIGABRT)",
    signal.SIGBUS: "crashed with a bus error (SIGBUS)",
    signal.SIGFPE: "crashed with an arithmetic error (SIGFPE)",
    signal.SIGILL: "crashed on an illegal instruction (SIGILL)",
}


@dataclass(slots=True)
class _Heard:
    """What a child has told so far."""

    stage: str = "start"
    partial: Message | None = None
    last: Message | None = None


def run_isolated(
    request: Request,
    *,
    timeout_s: float,
    on_stage: Callable[[str], None],
    measure: str | None = None,
) -> Run:
    """Return the run of a case measured in a child process; `failure` is set when it ended early.

    Args:
        request: what to measure.
        timeout_s: after this many seconds the child is ended.
        on_stage: told the name of each stage as it starts.
        measure: `module:function` that the child calls, a `child.Measure`; None is MEASURE, or PLAN for a target.

    Raises:
        CaptureError: nothing was measured; says why, with the case's own traceback.
        KeyboardInterrupt: passed on once the child is gone.
    """
    with _folder() as folder:
        trace_file = folder / "stacks.txt"
        task = child.Task(
            request=request,
            measure=measure or (MEASURE if request.target is None else PLAN),
            trace_file=str(trace_file),
            cache_folder="" if request.options.use_cache else str(folder / "cache"),
        )
        with _started(child.run, task) as (process, pipe):
            heard = _Heard()
            ended = _listen(process, pipe, heard, on_stage, monotonic() + timeout_s)
            if ended == "timeout":
                heard.last = _hang(process, heard.stage, trace_file, timeout_s)
            elif ended == "death":
                heard.last = _death(process, heard.stage, trace_file)
    return _outcome(request, heard)


def cuda_usable() -> bool:
    """Return whether torch can use a CUDA device, asked in a child so that none is held here."""
    with _started(child.probe_cuda) as (process, pipe):
        heard = _Heard()
        _listen(process, pipe, heard, lambda _: None, monotonic() + _PROBE_TIMEOUT_S)
    return heard.last is not None and heard.last.answer


# ---------------------------------------------------------------- the process


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    """Give a temporary folder for the child's stacks and compile caches; removed in any case."""
    folder = Path(tempfile.mkdtemp(prefix="compdiff-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _started(
    target: Callable[..., None], *arguments: child.Task
) -> Iterator[tuple[ForkServerProcess, Connection]]:
    """Start a child on `target(*arguments, pipe)`; it ends with the block, and all it started."""
    context = _context()
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=target, args=(*arguments, sending))
    try:
        process.start()
        sending.close()
        yield process, receiving
    finally:
        _end(process)
        receiving.close()


def _context() -> ForkServerContext:
    # On a machine without a GPU, Kineto reports that as an ERROR on stderr: it alarms for nothing.
    os.environ.setdefault("KINETO_LOG_LEVEL", _KINETO_SILENT)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([_PRELOADED])
    return context


def _end(process: ForkServerProcess) -> None:
    """Kill a child with all its descendants, until none is left, and reap it."""
    if process.pid is None:
        return
    while family := _family(process.pid, alive=process.exitcode is None):
        for pid in family:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.join(_POLL_S)
    process.join()


def _family(leader: int, *, alive: bool) -> set[int]:
    """Return a child's session and descendants; `alive`: the child itself has not ended.

    A session's number is not given to another process while the session has members.
    """
    parents: dict[int, int] = {}
    family = {leader} if alive else set()
    for pid, parent, session in _processes():
        parents[pid] = parent
        if session == leader:
            family.add(pid)
    while more := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= more
    return family if alive else family - {leader}


def _processes() -> Iterator[tuple[int, int, int]]:
    """Yield (pid, parent, session) of every process that is not a zombie."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):  # it ended meanwhile
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            if fields[0] != "Z":
                yield int(entry.name), int(fields[_STAT_PARENT]), int(fields[_STAT_SESSION])


# ---------------------------------------------------------------- what it tells


def _listen(
    process: ForkServerProcess,
    pipe: Connection,
    heard: _Heard,
    on_stage: Callable[[str], None],
    deadline: float,
) -> str:
    """Take messages until the last; return "" then, or `timeout`, or `death` of the child.

    The pipe alone does not show a death: a process that the case started may hold its other end.
    """
    while heard.last is None:
        ready = wait([pipe, process.sentinel], max(0.0, deadline - monotonic()))
        if not ready:
            return "timeout"
        if not pipe.poll():
            return "death"
        try:
            _take(decode(pipe.recv_bytes()), heard, on_stage)
        except EOFError:
            return "death"
    return ""


def _take(message: Message, heard: _Heard, on_stage: Callable[[str], None]) -> None:
    if message.kind == "stage":
        heard.stage = message.stage
        on_stage(message.stage)
    elif message.kind == "partial":
        heard.partial = message
    else:
        heard.last = message


def _hang(process: ForkServerProcess, stage: str, trace_file: Path, timeout_s: float) -> Message:
    """Return what a child that did not end in time was doing: it is asked for its stacks."""
    if process.pid is not None and trace_file.exists():
        os.kill(process.pid, child.STACK_SIGNAL)
        end = monotonic() + _STACKS_WAIT_S
        while not _text(trace_file) and monotonic() < end:
            sleep(_POLL_S)
        sleep(_POLL_S)  # the rest of the stacks
    message = f"did not end within {timeout_s:g} s, in the stage: {stage}"
    failure = Failure(stage=stage, message=message, traceback=_text(trace_file))
    return Message(kind="failure", failure=failure, hint="Give it more time with --timeout.")


def _death(process: ForkServerProcess, stage: str, trace_file: Path) -> Message:
    """Return how a child ended that did not say so itself."""
    process.join(_EXIT_WAIT_S)
    code = process.exitcode
    if code is not None and code < 0:
        ended = signal.Signals(-code)
        how = _SIGNALS.get(ended, f"was ended by {ended.name}")
    else:
        how = f"ended its process itself (exit code {code})"
    failure = Failure(
        stage=stage, message=f"{how}, in the stage: {stage}", traceback=_text(trace_file)
    )
    return Message(kind="failure", failure=failure)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace").strip() if path.exists() else ""


def _outcome(request: Request, heard: _Heard) -> Run:
    last = heard.last or Message(kind="failure")
    if last.kind == "final":
        return run_of(last)
    failure = last.failure or Failure(stage=heard.stage, message="ended without a result")
    partial = run_of(heard.partial) if heard.partial is not None else None
    if partial is not None and partial.left.op_calls:
        return msgspec.structs.replace(partial, failure=failure)
    details = f"\n{failure.traceback}" if failure.traceback else ""
    raise CaptureError(
        f"{request.spec.name}: {failure.message}{details}",
        last.hint or f"It happened in the stage: {failure.stage}; nothing was measured before it.",
    )
