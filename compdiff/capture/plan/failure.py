"""Why a case cannot be planned. In: what torch raised on fake tensors. Out: a CaptureError with the op and a hint."""

import re
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch

from compdiff.errors import CaptureError, CompdiffError
from compdiff.source import is_user_file, shown_path

_MEASURE = "Measure it on a GPU with --device cuda"


# What torch raises when its compiler fails, and what is then not about a value of the case: Dynamo breaks the graph there.
_COMPILER_ERRORS = frozenset({"BackendCompilerFailed", "InductorError"})
_VALUE_ERRORS = frozenset({"DataDependentOutputException", "DynamicOutputShapeException"})


@dataclass(frozen=True, slots=True)
class Cause:
    """A kind of error: its type's name and message fit; `what` and `hint` are told of it."""

    kind: str
    message: re.Pattern[str]
    what: str
    hint: str


CAUSES = (
    Cause(
        "DynamicOutputShapeException",
        re.compile(r"(?P<op>\S+)"),
        "the shape of the result of {op} depends on values that only the device has",
        f"{_MEASURE}, or write it with a fixed shape (torch.where instead of indexing with a mask).",
    ),
    Cause(
        "DataDependentOutputException",
        re.compile(r"(?P<op>\S+)"),
        "{op} reads values that only the device has",
        f"{_MEASURE}, or make the value on the CPU.",
    ),
    Cause(
        "UnsupportedOperatorException",
        re.compile(r"(?P<op>\S+)"),
        "torch has no rule that says what {op} returns without running it on the device",
        f"{_MEASURE}, or write it with other ops; for an op of your own, torch.library.register_fake gives the rule.",
    ),
    Cause(
        "",
        re.compile(r"There was no fake impl registered for <?(?:CustomOpDef\()?(?P<op>[\w:.]+)"),
        "torch has no rule that says what {op} returns without running it on the device",
        "Register one with torch.library.register_fake.",
    ),
    Cause(
        "",
        re.compile(r"shape_env must not be None"),
        "this call makes sizes or results that depend on values, which only the device has",
        f"{_MEASURE}, or write it with fixed shapes.",
    ),
    Cause(
        "",
        re.compile(
            r"no NVIDIA driver|CUDA driver version|No CUDA GPUs|CUDA error|cudaErr|getCurrentStream|invalid device"
        ),
        "this call asks the CUDA driver for a device, which a plan does not have",
        f"{_MEASURE}, or make that part on the CPU (a torch.Generator, a stream, an event, pinned memory).",
    ),
    Cause(
        "FakeTensorDeviceMismatchError",
        re.compile(r"(?P<what>Expected all tensors to be on the same device.*)"),
        "{what}",
        "A GPU refuses this too: move what the case made on the CPU to the device, as a buffer or with .to(x.device).",
    ),
    Cause(
        "AttributeError",
        re.compile(r"'ignore_fresh_unbacked_symbols'"),
        "while_loop runs until a value changes that only the device has",
        f"{_MEASURE}.",
    ),
    Cause(
        "RuntimeError",
        re.compile(r"^\.(?P<call>numpy|tolist)\(\) is not supported for tensor subclasses"),
        ".{call}() reads values that only the device has",
        f"{_MEASURE}, or compute it with torch.",
    ),
)


def explained(error: Exception) -> Exception:
    """Return a CaptureError for an error that comes from planning itself, else the error as it is."""
    if isinstance(error, CompdiffError):
        return error
    compiling = any(type(inner).__name__ in _COMPILER_ERRORS for inner in _chain(error))
    for inner in _chain(error):
        for cause in CAUSES:
            if cause.kind and type(inner).__name__ != cause.kind:
                continue
            found = cause.message.search(str(inner))
            if found is not None and not (compiling and cause.kind in _VALUE_ERRORS):
                what = cause.what.format(**found.groupdict())
                return CaptureError(f"it cannot be planned: {what}{_place(inner)}", cause.hint)
    return _of_the_compiler(error) if compiling else error


def _of_the_compiler(error: Exception) -> Exception:
    """Return an error of torch's compiler as such; what the case's or compdiff's code raised inside it stays as it is."""
    raised = list(_chain(error))[-1]
    if not _raised_in_torch(raised):
        return error
    first = str(raised).strip().partition("\n")[0]
    return CaptureError(
        f"torch.compile failed, by an error of its own: {type(raised).__name__}: {first}{_place(raised)}",
        "Planning answered all that was asked of the device: expect the same on a GPU, and report it to PyTorch.",
    )


def _raised_in_torch(error: BaseException) -> bool:
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and Path(frames[-1].filename).is_relative_to(Path(torch.__file__).parent)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and all that it came from, innermost last."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__


def _place(error: BaseException) -> str:
    """Return the innermost user line that an error came through: ` (at cases/one.py:12)`; "" where there is none."""
    places = []
    trace = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if is_user_file(file):
            places.append(f" (at {shown_path(file)}:{trace.tb_lineno})")
        trace = trace.tb_next
    return places[-1] if places else ""
