"""Compiles a case one way and compares its outputs, nothing else. In: a Request with a check. Out: a Run."""

import contextlib
import dataclasses
from collections.abc import Callable, Iterator

import msgspec
import torch

from compdiff.capture import inductor
from compdiff.capture.case_settings import Tolerance
from compdiff.capture.measure import compiled_function, empty_run, seed
from compdiff.capture.numerics import compare
from compdiff.capture.workload import Workload, load
from compdiff.model import CaptureWarning, CompileOptions, OutputCheck, Request, Run
from compdiff.precision.verdict import ALREADY_SET, UNKNOWN_OPTION


def compare_outputs(
    request: Request, *, progress: Callable[[str], None], save: Callable[[Run], None]
) -> Run:
    """Return a run that holds `numerics`, or a warning that the asked options are unknown or in use already.

    The tolerance is the only rule: being as near to float64 as eager mode is not enough.
    """
    del save  # there is nothing to keep of a comparison that did not end
    asked = request.check or OutputCheck()
    progress("load the case")
    seed(request.seed)
    workload = _with_tolerance(
        load(request.spec, request.device, request.dtype, request.seed), asked
    )
    run = empty_run(request, workload)
    if (told := _needless(asked, run.options)) is not None:
        return msgspec.structs.replace(run, warnings=(told,))
    options = msgspec.structs.replace(run.options, options={**run.options.options, **asked.options})
    progress("compile and compare")
    with (
        _products(full=asked.full_float32),
        inductor.configured(use_cache=options.use_cache, options=options.options),
    ):
        compiled = compiled_function(workload.fn, options)
        numerics = compare(workload, compiled, request.seed, strict=True)
    return msgspec.structs.replace(run, options=options, numerics=numerics, warnings=())


def _with_tolerance(workload: Workload, asked: OutputCheck) -> Workload:
    if asked.rtol is None or asked.atol is None:
        return workload
    tolerance = Tolerance(rtol=asked.rtol, atol=asked.atol)
    return dataclasses.replace(workload, tolerance=tolerance)


def _needless(asked: OutputCheck, options: CompileOptions) -> CaptureWarning | None:
    """Return why it would tell nothing to compile so, or None."""
    if asked.full_float32:
        return CaptureWarning(id=ALREADY_SET, text="TF32 is off already") if _full() else None
    try:
        now = {name: inductor.option_value(name, options) for name in asked.options}
    except KeyError as error:
        text = f"torch {torch.__version__} has no option {error.args[0]}"
        return CaptureWarning(id=UNKNOWN_OPTION, text=text)
    if now and now == asked.options:
        return CaptureWarning(id=ALREADY_SET, text="it is so already")
    return None


def _full() -> bool:
    """Return whether float32 products and convolutions are computed in float32."""
    highest = torch.get_float32_matmul_precision() == "highest"
    return highest and not torch.backends.cudnn.allow_tf32


@contextlib.contextmanager
def _products(*, full: bool) -> Iterator[None]:
    """Have float32 products and convolutions computed in float32 inside the block, where asked."""
    if not full:
        yield
        return
    before = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32
    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.allow_tf32 = False
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before[0])
        torch.backends.cudnn.allow_tf32 = before[1]
