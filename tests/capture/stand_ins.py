"""What a child calls in place of `measure`: each ends in its own way."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from compdiff.errors import CaseError
from compdiff.model import (
    Capture,
    CaseInfo,
    CompileOptions,
    Environment,
    Expectation,
    Failure,
    Numerics,
    OpCall,
    OutputError,
    Request,
    Run,
)

Progress = Callable[[str], None]
Save = Callable[[Run], None]


def empty_run(name: str, *op_calls: OpCall) -> Run:
    """Return a run with these op calls on its left side."""
    return Run(
        case=CaseInfo(name=name, file=f"{name}.py"),
        environment=Environment(),
        options=CompileOptions(),
        left=Capture(label="eager", basis="measured", device="cpu", op_calls=op_calls),
        right=Capture(label="compiled", basis="measured", device="cpu"),
    )


def finish(request: Request, *, progress: Progress, save: Save) -> Run:
    """Tell two stages and return a run that says where it was made."""
    progress("first")
    save(empty_run("partial"))
    progress("second")
    environment = Environment(
        platform=str(os.getpid()), device=os.environ["TORCHINDUCTOR_CACHE_DIR"]
    )
    run = empty_run(request.spec.name, OpCall(id=0, name="aten::mm"))
    return msgspec.structs.replace(run, environment=environment)


def not_finite(request: Request, *, progress: Progress, save: Save) -> Run:
    """Return a run with a NaN and an infinity in it."""
    del progress, save
    numerics = Numerics(
        comparable=True, left=OutputError(max_abs=float("nan"), max_rel=float("inf"))
    )
    return msgspec.structs.replace(empty_run(request.spec.name), numerics=numerics)


def fork_state(request: Request, *, progress: Progress, save: Save) -> Run:
    """Return whether Inductor was there before, and whether the CUDA state forbids forking."""
    del progress, save
    preloaded = "torch" in sys.modules and "torch._inductor.compile_fx" in sys.modules
    import torch  # noqa: PLC0415 - whether it is loaded already is the question

    forked_bad = torch.cuda._is_in_bad_fork()
    threads = len(list(Path("/proc/self/task").iterdir()))
    environment = Environment(device=f"{preloaded} {forked_bad}", threads=threads)
    return msgspec.structs.replace(empty_run(request.spec.name), environment=environment)


def raise_early(request: Request, *, progress: Progress, save: Save) -> Run:
    """Raise before anything is measured."""
    del request, save
    progress("load the case")
    raise ZeroDivisionError("the case divides")


def raise_late(request: Request, *, progress: Progress, save: Save) -> Run:
    """Raise after one side was measured."""
    run = empty_run(request.spec.name, OpCall(id=0, name="aten::mm"))
    progress("compiled: compile")
    save(msgspec.structs.replace(run, failure=Failure(stage="x", message="interrupted")))
    raise ZeroDivisionError("the case divides")


def refuse(request: Request, *, progress: Progress, save: Save) -> Run:
    """Raise an error of compdiff's own, with a hint."""
    del progress, save
    raise CaseError(f"{request.spec.name}: inputs returns no tensor", "Return a tuple of tensors.")


def leave(request: Request, *, progress: Progress, save: Save) -> Run:
    """Call sys.exit."""
    del request, progress, save
    sys.exit(3)


def leave_at_once(request: Request, *, progress: Progress, save: Save) -> Run:
    """End the process without unwinding."""
    del request, progress, save
    os._exit(7)


def segfault(request: Request, *, progress: Progress, save: Save) -> Run:
    """Read address zero."""
    del request, save
    progress("crash")
    ctypes.string_at(0)
    raise AssertionError


def killed(request: Request, *, progress: Progress, save: Save) -> Run:
    """Be killed as the kernel's OOM killer does it."""
    del request, progress, save
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def killed_with_heir(request: Request, *, progress: Progress, save: Save) -> Run:
    """Be killed while a forked process holds the other end of the pipe."""
    del request, progress, save
    if os.fork() == 0:
        time.sleep(600)
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def hang(request: Request, *, progress: Progress, save: Save) -> Run:
    """Sleep in a function whose name can be found in a stack."""
    del request, save
    progress("sleep")
    _sleep_in_the_case()
    raise AssertionError


def hang_with_family(request: Request, *, progress: Progress, save: Save) -> Run:
    """Hang with a child in the same session and one in its own; tell their pids as a stage."""
    del request, save
    same = subprocess.Popen(["sleep", "600"])  # noqa: S607
    own = subprocess.Popen(["sleep", "600"], start_new_session=True)  # noqa: S607
    progress(f"{os.getpid()} {same.pid} {own.pid}")
    time.sleep(600)
    raise AssertionError


def talk(request: Request, *, progress: Progress, save: Save) -> Run:
    """Print in each of many stages."""
    del save
    for number in range(5):
        progress(f"stage {number}")
        print(f"words {number}")  # noqa: T201
    return empty_run(request.spec.name)


def _sleep_in_the_case() -> None:
    time.sleep(600)


def kept(request: Request, *, progress: Progress, save: Save) -> Run:
    """Return a run whose one op call is the same on both sides."""
    del progress, save
    run = empty_run(request.spec.name, OpCall(id=0, name="aten::mm"))
    right = msgspec.structs.replace(run.right, op_calls=run.left.op_calls)
    return msgspec.structs.replace(run, right=right)


def disappoint(request: Request, *, progress: Progress, save: Save) -> Run:
    """Return a run that does not do what is expected of it."""
    run = kept(request, progress=progress, save=save)
    return msgspec.structs.replace(run, expectation=Expectation(rules=("mm-add-to-addmm",)))


def raise_for_one(request: Request, *, progress: Progress, save: Save) -> Run:
    """Raise for the case `one`, and return a run for any other."""
    if request.spec.name == "one":
        return raise_early(request, progress=progress, save=save)
    return kept(request, progress=progress, save=save)


def raise_for_mode(request: Request, *, progress: Progress, save: Save) -> Run:
    """Refuse one mode of torch.compile, and return a run for any other."""
    if request.options.mode == "reduce-overhead":
        raise CaseError("no such mode here", "Use another.")
    return kept(request, progress=progress, save=save)
