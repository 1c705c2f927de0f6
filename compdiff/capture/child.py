"""The process that runs one case. In: a Task, a pipe. Out: messages on the pipe.

It is forked from a server that has imported torch (`compdiff.capture.isolation`).
"""

import faulthandler
import fcntl
import importlib
import logging
import multiprocessing
import os
import resource
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Protocol

from compdiff.capture.failure import failure_of
from compdiff.capture.message import Message, encode, raw_run
from compdiff.errors import CaptureError, CompdiffError
from compdiff.model import Request, Run

STACK_SIGNAL = signal.SIGUSR1
"""On this signal a child writes its Python stacks to its trace file, even from within C code."""

_CACHE_VARIABLES = {"TORCHINDUCTOR_CACHE_DIR": "inductor", "TRITON_CACHE_DIR": "triton"}
_F_SETSIG = 10  # Source: linux/fcntl.h; Python has no name for it
_STDOUT, _STDERR = 1, 2
_LOUD_STAGES = (
    3  # the start, loading, and the first calls; the other thousands print the same again
)


class Measure(Protocol):
    """What measures a case: `compdiff.capture.measure.measure`."""

    def __call__(
        self,
        request: Request,
        *,
        progress: Callable[[str], None],
        save: Callable[[Run], None],
    ) -> Run:
        """Return the run of one case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What one child is to do.

    `measure` names the function that measures (`module:function`). `cache_folder` is where compile
    caches go; empty leaves the user's own in use.
    """

    request: Request
    measure: str
    trace_file: str
    cache_folder: str = ""


def run(task: Task, pipe: Connection) -> None:
    """Measure one case and send what comes of it: stages, partial runs, `final` or `failure`."""
    isolate()
    if task.cache_folder:
        for variable, folder in _CACHE_VARIABLES.items():
            os.environ[variable] = str(Path(task.cache_folder) / folder)
    stages = ["start"]

    def progress(stage: str) -> None:
        stages.append(stage)
        if len(stages) > _LOUD_STAGES:
            _silence()
        pipe.send_bytes(encode(Message(kind="stage", stage=stage)))

    def save(run: Run) -> None:
        pipe.send_bytes(encode(Message(kind="partial", run=raw_run(run))))

    with _stacks_to(task.trace_file):
        try:
            _check_device(task.request)
            measured = _measure(task.measure)(task.request, progress=progress, save=save)
        except BaseException as error:  # noqa: BLE001 - whatever the case raises is told
            hint = error.hint if isinstance(error, CompdiffError) else ""
            last = Message(kind="failure", failure=failure_of(error, stages[-1]), hint=hint)
        else:
            last = Message(kind="final", run=raw_run(measured))
        _flush()
        pipe.send_bytes(encode(last))


def probe_cuda(pipe: Connection) -> None:
    """Send whether torch can use a CUDA device."""
    isolate()
    import torch  # noqa: PLC0415 - the parent imports this module, and must not import torch

    pipe.send_bytes(encode(Message(kind="answer", answer=torch.cuda.is_available())))


def hush_torch() -> None:
    """Keep torch from saying on stderr, for every case, what the report says anyway or nobody asked."""
    # The profiler library writes start and stop lines at its default level.
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")
    # A CUDA build says on every compile that it found no GPU.
    logging.getLogger("torch.utils.cpp_extension").setLevel(logging.ERROR)
    # torch says at import that it does without NumPy; a case that needs it gets an ImportError.
    warnings.filterwarnings("ignore", message="Failed to initialize NumPy")


def isolate() -> None:
    """Lead a session of its own, tied to the parent's life, silent on stdout and without torch's chatter."""
    hush_torch()
    os.setsid()
    _end_with_parent()
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(
        resource.RLIMIT_CORE, (0, hard)
    )  # a core file of a torch process is gigabytes
    os.dup2(_STDERR, _STDOUT)  # stdout belongs to compdiff's summary


def _end_with_parent() -> None:
    """Have the kernel kill this process group once the parent is gone, even by SIGKILL.

    Its end of the sentinel pipe closes then, which the kernel signals. PR_SET_PDEATHSIG would not
    do: it goes by the fork server, which lives for as long as its children do.
    """
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    sentinel = parent.sentinel
    fcntl.fcntl(sentinel, fcntl.F_SETOWN, -os.getpgrp())
    fcntl.fcntl(sentinel, _F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(sentinel, fcntl.F_SETFL, fcntl.fcntl(sentinel, fcntl.F_GETFL) | os.O_ASYNC)
    if not parent.is_alive():  # it went before the kernel was asked
        os.killpg(0, signal.SIGKILL)


def _check_device(request: Request) -> None:
    """Refuse a device that is not there; a plan needs none."""
    device = request.device
    if request.target is not None or not device.startswith("cuda"):
        return
    import torch  # noqa: PLC0415 - as in probe_cuda

    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if int(device.partition(":")[2] or 0) >= count:
        raise CaptureError(
            f"torch sees {count} CUDA devices, so there is no {device}",
            "`compdiff doctor` says what this machine has; --device cpu runs without a GPU.",
        )


def _measure(reference: str) -> Measure:
    module, _, name = reference.partition(":")
    measure: Measure = getattr(importlib.import_module(module), name)
    return measure


@contextmanager
def _stacks_to(trace_file: str) -> Iterator[None]:
    """Write this process's Python stacks to a file when it crashes, and on STACK_SIGNAL."""
    with Path(trace_file).open("w", encoding="utf-8") as file:
        faulthandler.enable(file)
        faulthandler.register(STACK_SIGNAL, file)
        yield
        faulthandler.unregister(STACK_SIGNAL)
        faulthandler.disable()


def _silence() -> None:
    """Send what the case prints from here on nowhere; stderr stays."""
    _flush()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, _STDOUT)
    os.close(nowhere)


def _flush() -> None:
    """Write what the case printed: the parent ends this process once it has the last message."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and not stream.closed:
            stream.flush()
