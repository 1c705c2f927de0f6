"""Plans one case for a GPU that is not there. In: a Request with a target. Out: a Run whose sides are planned.

Both sides run on fake tensors that say they are on the device: the eager ops are recorded as they are dispatched, and
Inductor's own generated code runs with stand-ins for its kernels. Kernels of eager ops are modelled by a table, generated
ones are compiled for the target, and times are roofline estimates: nothing here is measured.
"""

from collections.abc import Callable
from importlib.util import find_spec

import msgspec
import torch

from compdiff.capture import inductor
from compdiff.capture.measure import (
    Session,
    attributed_compiler,
    compiled_function,
    empty_run,
)
from compdiff.capture.plan.device import FakeTensorMode, supports_bfloat16
from compdiff.capture.plan.failure import explained
from compdiff.capture.plan.items import Compiled, Items, make_items
from compdiff.capture.plan.kernels import compile_kernels
from compdiff.capture.plan.log import PlanLog
from compdiff.capture.plan.patches import pretended
from compdiff.capture.plan.recorder import PlannedCalls, record
from compdiff.capture.plan.stable import stable
from compdiff.capture.plan.workload import load_planned
from compdiff.errors import CaptureError
from compdiff.model import Capture, CaptureWarning, Compiler, Request, Run, Target

_ESTIMATED_NOTE = (
    "nothing was run on a GPU: times are roofline estimates (each tensor read and written once, FLOPs by torch's "
    "formulas, peak rates of the target), and kernels of library ops are modelled by a table"
)


def plan(request: Request, *, progress: Callable[[str], None], save: Callable[[Run], None]) -> Run:
    """Return the run of one case, both sides planned for the request's target.

    Args:
        request: what to plan; it has a target.
        progress: told the name of each stage as it starts.
        save: given the run so far before each stage, with `failure` naming the stage.

    Raises:
        CaptureError: this torch cannot plan, or the case needs a real device: says which op.
    """
    target = _checked_target(request)
    fake = FakeTensorMode()
    log = PlanLog()
    progress("load the case")
    asked = msgspec.structs.replace(request, dtype=_dtype(request, target))
    try:
        with pretended(target, fake, log):
            return _plan(asked, fake, log, progress, save)
    except Exception as error:
        reason = explained(error)
        if reason is error:
            raise
        raise reason from error


def _checked_target(request: Request) -> Target:
    """Return the target, if this torch and triton can compile for it."""
    if request.target is None:
        raise CaptureError(
            "a plan needs a target", "Name one with --target; see `compdiff targets`."
        )
    if torch.version.cuda is None:
        raise CaptureError(
            f"torch {torch.__version__} is built without CUDA, and planning needs the code of the CUDA build (no GPU)",
            "Install it: pip install torch (on Linux, from PyPI, this is the CUDA build and brings triton).",
        )
    if find_spec("triton") is None:
        raise CaptureError(
            "planning needs triton, which is not installed", "Install it: pip install triton."
        )
    return request.target


def _dtype(request: Request, target: Target) -> str:
    """Return the dtype to ask the case for: float16 where the target has no bfloat16 and the user did not choose."""
    if request.dtype or request.spec.form == "module" or supports_bfloat16(target):
        return request.dtype
    return "float16"


def _plan(
    request: Request,
    fake: FakeTensorMode,
    log: PlanLog,
    progress: Callable[[str], None],
    save: Callable[[Run], None],
) -> Run:
    """Plan both sides; runs while the device is pretended."""
    workload = load_planned(request, fake, log)
    session = Session(request, workload, empty_run(request, workload, "planned"), progress, save)
    session.keep(warnings=(CaptureWarning(id="planned", text=_ESTIMATED_NOTE),))
    with fake:
        _plan_left(session, log)
        options = session.run.options
        with inductor.recorded(session.recorder, use_cache=False, options=options.options):
            _plan_right(session, log)
    session.keep(warnings=(*session.run.warnings, *log.notes.values()))
    return session.run


def _plan_left(session: Session, log: PlanLog) -> None:
    workload = session.workload
    with session.stage("eager: warm-up"):
        workload.step(workload.fn)
    with session.stage("eager: op calls"):
        planned = record(lambda: workload.step(workload.fn), session.recorder.place, log)
        items = make_items(planned, (), Compiled(), _target(session))
        session.keep(left=_capture(session, "eager", items, planned))


def _plan_right(session: Session, log: PlanLog) -> None:
    workload, recorder = session.workload, session.recorder
    torch.compiler.reset()
    compiled = compiled_function(workload.fn, session.run.options)

    def step() -> object:
        return workload.step(compiled)

    with session.stage("compiled: compile"):
        for _ in range(2):
            step()
    with session.stage("compiled: op calls"):
        planned = record(step, recorder.place, log)
        launches = list(log.launches)
    with session.stage("compiled: attribute op calls to graph nodes"):
        compiler = attributed_compiler(session, step)
    with session.stage("compiled: kernels"):
        sources = {it.name: it.source for it in launches if it.kind == "triton"}
        made = Compiled(
            graphs=dict(enumerate(graph for graph in compiler.graphs if graph.wrapper_code)),
            kernel_bytes=log.kernel_bytes,
            resources=compile_kernels(sources, _target(session)),
        )
        items = make_items(planned, launches, made, _target(session))
        session.keep(right=_capture(session, "compiled", items, planned, stable(compiler)))


def _target(session: Session) -> Target:
    target = session.request.target
    if target is None:
        raise CaptureError("a plan needs a target")
    return target


def _capture(
    session: Session,
    label: str,
    items: Items,
    planned: PlannedCalls,
    compiler: Compiler | None = None,
) -> Capture:
    return Capture(
        label=label,
        basis="planned",
        device="cuda:0",
        device_name=_target(session).title,
        op_calls=tuple(items.op_calls),
        kernels=tuple(items.kernels),
        call_order=tuple(items.order),
        output_values=planned.output_values,
        compiler=compiler,
        warnings=tuple(session.recorder.warnings) if compiler else (),
    )
