"""Measures a call of a function that only this process has, as in a notebook. In: a Call, options. Out: a Run.

The stages are those of `compdiff.capture.measure`, which the child process of a case runs too. What is changed here is
put back: modules, tensors, gradients and random states. A crash or a hang is the caller's, since there is no child.
"""

import contextlib
import inspect
import logging
import os
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import msgspec
import torch
from torch.utils._pytree import tree_leaves

from compdiff.capture import inductor
from compdiff.capture.case_settings import Tolerance
from compdiff.capture.measure import measure_workload
from compdiff.capture.numerics import restored
from compdiff.capture.workload import Workload, name_of, of_call, source_object
from compdiff.errors import CaseError
from compdiff.model import CaptureWarning, CaseSpec, CompileOptions, Request, Run, SamplingPlan
from compdiff.source import shown_path

_NOTE = (
    "measured in the process that called compdiff.compare, which may have compiled before: times of compilation are those "
    "of a warm process, and a crash would have ended it"
)


@dataclass(frozen=True, kw_only=True)
class Call:
    """A function with its arguments. `tolerance` is (rtol, atol), None for those of the dtypes."""

    fn: Callable[..., object]
    args: tuple[object, ...] = ()
    kwargs: Mapping[str, object] = field(default_factory=dict)
    backward: bool = False
    tolerance: tuple[float, float] | None = None
    name: str = ""


def measure_call(
    call: Call,
    *,
    options: CompileOptions,
    sampling: SamplingPlan,
    seed: int,
    progress: Callable[[str], None],
) -> Run:
    """Return the run of a call, both sides measured in this process.

    What torch.compile compiled before in this process is forgotten, and compiled again when it is called.

    Raises:
        CaseError: the function is compiled already, an argument cannot be copied, or a tensor is on another kind of device.
        Exception: whatever the function itself raises, on either side.
    """
    if inductor.is_compiled(call.fn):
        raise CaseError(
            f"{name_of(call.fn)} is compiled already, so there is no eager side",
            "Give the function or module that torch.compile was given.",
        )
    tolerance = (
        Tolerance(rtol=call.tolerance[0], atol=call.tolerance[1]) if call.tolerance else None
    )
    workload = of_call(
        call.fn, call.args, dict(call.kwargs), backward=call.backward, tolerance=tolerance
    )
    request = Request(
        spec=_spec(call), device=_device(workload), options=options, sampling=sampling, seed=seed
    )
    with _quiet(), _unchanged(workload, request.device):
        run = measure_workload(request, workload, progress=progress, save=lambda _: None)
    note = CaptureWarning(id="in-process", text=_NOTE)
    return msgspec.structs.replace(run, warnings=(*run.warnings, note))


def _spec(call: Call) -> CaseSpec:
    owner = source_object(call.fn)
    try:
        file = inspect.getsourcefile(owner) or ""  # type: ignore[arg-type]
    except TypeError:  # it is written in C
        file = ""
    first = (inspect.getdoc(owner) or "").partition("\n")[0] if inspect.isroutine(owner) else ""
    name = call.name or name_of(call.fn)
    return CaseSpec(name=name, path=shown_path(file), form="call", summary=first)


def _device(workload: Workload) -> str:
    """Return `cuda:N` where any tensor is on one, else `cpu`."""
    tensors = [
        *tree_leaves((workload.args, workload.kwargs)),
        *workload.leaves,
        *(item for module in workload.modules for item in module.parameters()),
        *(item for module in workload.modules for item in module.buffers()),
    ]
    devices = {item.device for item in tensors if isinstance(item, torch.Tensor)}
    others = sorted(str(device) for device in devices if device.type not in {"cpu", "cuda"})
    if others:
        raise CaseError(
            f"a tensor is on {others[0]}", "compdiff measures on cpu and cuda; move it there."
        )
    return min((str(device) for device in devices if device.type == "cuda"), default="cpu")


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep torch from saying on stderr that there is no GPU: once as an error of the profiler, and on each compile."""
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")
    logger = logging.getLogger("torch.utils.cpp_extension")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


@contextlib.contextmanager
def _unchanged(workload: Workload, device: str) -> Iterator[None]:
    """Put back at the end what measuring changes: modules, tensors, gradients, random states, compiled code."""
    modules = [part for module in workload.modules for part in module.modules()]
    buffers = [
        (module, name, buffer)
        for module in modules
        for name, buffer in module.named_buffers(recurse=False)
    ]
    holders = [
        *workload.leaves,
        *(it for module in modules for it in module.parameters(recurse=False)),
    ]
    gradients = [(tensor, tensor.grad) for tensor in holders if tensor.is_leaf]
    numbers = random.getstate()
    try:
        devices = [] if device == "cpu" else [torch.device(device)]
        with torch.random.fork_rng(devices=devices), restored(workload):
            yield
    finally:
        random.setstate(numbers)
        for module, name, buffer in buffers:
            setattr(module, name, buffer)
        for tensor, gradient in gradients:
            tensor.grad = gradient
        # The code that was compiled under compdiff's eyes is not for others.
        torch.compiler.reset()
