"""Measures one case. In: a Request. Out: a Run, with every part that was reached.

The order matters: structure passes (dispatch mode, profiler) never supply times, and compiles are counted before and after
each pass, so that a pass that changed what it measured says so.
"""

import contextlib
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timezone

import msgspec
import torch

from compdiff.capture import dispatch, graph_skips, inductor, machine_load, profile, step_splits
from compdiff.capture.environment import describe
from compdiff.capture.numerics import compare
from compdiff.capture.recorder import Recorder
from compdiff.capture.sampling import sample
from compdiff.capture.workload import Workload, load
from compdiff.model import (
    AttributedCall,
    Basis,
    Capture,
    CaptureWarning,
    CaseInfo,
    CompileOptions,
    Compiler,
    Failure,
    PassAudit,
    Request,
    Run,
    Timing,
)

_WARMUP_CALLS = 2
_WITHOUT_OPTIONS = frozenset({"eager", "aot_eager", "aot_eager_decomp_partition"})
_OBSERVER_NOTE = (
    "compdiff observes: cpp.enable_kernel_profile is on, and each compiled graph is called through a Python function "
    "(about 100 ns a call)"
)


@dataclass
class Session:
    """One case being measured: the run so far, and what the passes need."""

    request: Request
    workload: Workload
    run: Run
    progress: Callable[[str], None]
    save: Callable[[Run], None]
    recorder: Recorder = field(default_factory=lambda: Recorder(inductor.compile_id))

    @property
    def cuda(self) -> bool:
        """Whether the case runs on a GPU."""
        return self.request.device.startswith("cuda")

    def synchronize(self) -> None:
        """Wait for the device."""
        if self.cuda:
            torch.cuda.synchronize()

    def keep(self, **changes: object) -> None:
        """Put what is now known into the run."""
        self.run = msgspec.structs.replace(self.run, **changes)

    @contextlib.contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Announce a stage, save what there is in case it never ends, seed, and count compiles around it."""
        self.progress(name)
        failure = Failure(stage=name, message=f"interrupted in: {name}")
        self.save(msgspec.structs.replace(self.run, failure=failure))
        seed(self.request.seed)
        before = self.recorder.log.started
        yield
        audit = PassAudit(
            name=name, compiles_before=before, compiles_after=self.recorder.log.started
        )
        self.keep(audits=(*self.run.audits, audit))


def measure(
    request: Request, *, progress: Callable[[str], None], save: Callable[[Run], None]
) -> Run:
    """Return the run of one case, both sides measured.

    Args:
        request: what to measure.
        progress: told the name of each stage as it starts.
        save: given the run so far before each stage, with `failure` naming the stage, so that a crash loses nothing.

    Raises:
        Exception: whatever the case itself raises; the last saved run holds what was measured before.
    """
    progress("load the case")
    seed(request.seed)
    workload = load(request.spec, request.device, request.dtype, request.seed)
    return measure_workload(request, workload, progress=progress, save=save)


def measure_workload(
    request: Request,
    workload: Workload,
    *,
    progress: Callable[[str], None],
    save: Callable[[Run], None],
) -> Run:
    """Return the run of a workload that is already there, as `measure` does."""
    session = Session(request, workload, empty_run(request, workload), progress, save)
    _measure_left(session)
    options = session.run.options
    with (
        inductor.recorded(session.recorder, use_cache=options.use_cache, options=options.options),
        graph_skips.heard(session.recorder.warnings),
    ):
        _measure_right(session)
    session.keep(warnings=(*session.run.warnings, *_audit_warnings(session.run.audits)))
    return session.run


def seed(value: int) -> None:
    """Seed Python's and torch's generators."""
    random.seed(value)
    torch.manual_seed(value)


def _measure_left(session: Session) -> None:
    workload = session.workload

    def step() -> object:
        return workload.step(workload.fn)

    with session.stage("eager: warm-up"):
        for _ in range(_WARMUP_CALLS):
            step()
        session.synchronize()
    with session.stage("eager: op calls"):
        recording, outputs = dispatch.record(step, session.recorder.place, sources=True)
        session.keep(
            left=_capture(session, "eager", profile.Profile(op_calls=recording.op_calls), outputs)
        )
    with session.stage("eager: profile"):
        merged = profile.merge(recording.op_calls, profile.trace(step, cuda=session.cuda))
        session.keep(left=_capture(session, "eager", merged, outputs))
    if session.request.sampling.profiled_steps:
        with session.stage("eager: split the step"):
            session.keep(left=_with_splits(session, session.run.left, step))


def _measure_right(session: Session) -> None:
    workload, recorder = session.workload, session.recorder
    torch.compiler.reset()
    compiled = compiled_function(workload.fn, session.run.options)

    def step() -> object:
        return workload.step(compiled)

    with session.stage("compiled: compile"):
        for _ in range(1 + _WARMUP_CALLS):
            step()
        session.synchronize()
    with session.stage("compiled: op calls"):
        recording, outputs = dispatch.record(step, recorder.place, sources=True)
    with session.stage("compiled: attribute op calls to graph nodes"):
        compiler = attributed_compiler(session, step)
    with session.stage("compiled: profile"):
        events = profile.trace(step, cuda=session.cuda)
        merged = profile.merge(recording.op_calls, events, compiler.graphs)
        session.keep(right=_capture(session, "compiled", merged, outputs, compiler))
    if session.request.sampling.profiled_steps:
        with session.stage("compiled: split the step"):
            session.keep(right=_with_splits(session, session.run.right, step))
    with session.stage("time both sides"):
        session.keep(timing=_timing(session, step))
    with session.stage("compare outputs"):
        session.keep(numerics=compare(workload, compiled))


def _timing(session: Session, compiled_step: Callable[[], object]) -> Timing:
    """Return the samples of both sides, and on the CPU how busy others kept the machine meanwhile."""
    workload = session.workload
    before = machine_load.now()
    timing = sample(
        lambda: workload.step(workload.fn),
        compiled_step,
        session.request.sampling,
        session.synchronize,
    )
    if session.cuda:
        return timing
    share = machine_load.others_share(before, machine_load.now())
    return msgspec.structs.replace(timing, others_cpu=round(share, 3))


def attributed_compiler(session: Session, step: Callable[[], object]) -> Compiler:
    """Return all that the compiler said, with the op calls of the step when each compiled graph runs node by node.

    What is compiled for that run alone is no part of it: its op calls are those of the same graph compiled before.
    """
    recorder = session.recorder
    compiler = compiler_record(session)
    recorder.attributing = True
    try:
        recording, _ = dispatch.record(step, recorder.place, sources=False)
    finally:
        recorder.attributing = False
    known = {graph.compile_id for graph in compiler.graphs}
    names = {identity: recorder.same_graph(identity, known) for identity in recorder.dynamo}
    attributed = (
        AttributedCall(
            name=call.name,
            overload=call.overload,
            shapes=tuple(meta.shape for meta in call.inputs),
            dtypes=tuple(meta.dtype for meta in call.inputs),
            compile_id=names.get(compile_id or "", compile_id),
            node=node,
            phase=call.phase,
            autograd_node=call.autograd_node,
            sequence=call.sequence,
        )
        for call, (compile_id, node) in zip(recording.op_calls, recording.places, strict=True)
    )
    return msgspec.structs.replace(compiler, attributed=tuple(attributed))


def compiler_record(session: Session) -> Compiler:
    """Return all that the compiler said about the session's compilations so far, with no op calls attributed."""
    log = session.recorder.log
    return Compiler(
        backend=session.run.options.backend,
        compilations=log.compilations(),
        graphs=session.recorder.graphs(),
        graph_breaks=tuple(log.graph_breaks),
        recompiles=tuple(log.recompiles),
    )


def _capture(
    session: Session,
    label: str,
    merged: profile.Profile,
    outputs: tuple[int, ...],
    compiler: Compiler | None = None,
) -> Capture:
    timed = [(call.start_ns or 0, f"o{call.id}") for call in merged.op_calls]
    timed += [(kernel.start_ns, f"k{kernel.id}") for kernel in merged.kernels]
    return Capture(
        label=label,
        basis="measured",
        device=session.request.device,
        device_name=session.run.environment.device,
        op_calls=tuple(merged.op_calls),
        launches=tuple(merged.launches),
        kernels=tuple(merged.kernels),
        call_order=tuple(name for _, name in sorted(timed, key=lambda item: item[0])),
        output_values=outputs,
        compiler=compiler,
        profile_start_ns=merged.start_ns,
        profile_wall_ns=merged.wall_ns,
        op_stats=merged.op_stats,
        warnings=(*merged.warnings, *(session.recorder.warnings if compiler else ())),
    )


def _with_splits(session: Session, capture: Capture, step: Callable[[], object]) -> Capture:
    """Return a capture with the splits of further profiled steps."""
    splits = step_splits.take(
        step,
        session.request.sampling,
        cuda=session.cuda,
        ns_per_step=capture.profile_wall_ns,
    )
    return msgspec.structs.replace(capture, splits=splits)


def compiled_function(fn: Callable[..., object], options: CompileOptions) -> Callable[..., object]:
    """Return the function that torch.compile makes of `fn`; beside options, which it refuses, a mode becomes options."""
    mode, given = options.mode, dict(options.options)
    if mode is not None and given:
        given = {**inductor.mode_options(mode), **given}
        mode = None
    return torch.compile(
        fn,
        backend=options.backend,
        dynamic=options.dynamic,
        fullgraph=options.fullgraph,
        mode=mode,
        options=given or None,  # type: ignore[arg-type]
    )


def empty_run(request: Request, workload: Workload, basis: Basis = "measured") -> Run:
    """Return the run of a case of which nothing is known yet but the case itself."""
    spec = request.spec
    case = CaseInfo(
        name=spec.name,
        file=spec.path,
        summary=spec.summary,
        form=spec.form,
        params=spec.params,
        param_set=spec.param_set,
        dtype=workload.dtype,
        backward=workload.backward,
        source=workload.source,
    )
    return Run(
        case=case,
        environment=describe(request.device, spec.path),
        options=merged_options(request.options, workload.compile_kwargs),
        left=Capture(label="eager", basis=basis, device=request.device),
        right=Capture(label="compiled", basis=basis, device=request.device),
        created=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        expectation=workload.expectation,
        target=request.target,
        warnings=(CaptureWarning(id="observer", text=_OBSERVER_NOTE),)
        if basis == "measured"
        else (),
    )


def merged_options(asked: CompileOptions, of_case: dict[str, object]) -> CompileOptions:
    """Return the case's COMPILE under what the user asked for; options are merged key by key.

    They are Inductor's: backends that run the ops of eager mode get none.
    """
    own = msgspec.convert(of_case, CompileOptions)
    default = CompileOptions()
    changed = {
        name: getattr(asked, name)
        for name in ("backend", "mode", "dynamic", "fullgraph", "use_cache")
        if getattr(asked, name) != getattr(default, name)
    }
    merged = msgspec.structs.replace(own, **changed, options={**own.options, **asked.options})
    if merged.backend in _WITHOUT_OPTIONS:
        return msgspec.structs.replace(merged, options={})
    return merged


def _audit_warnings(audits: tuple[PassAudit, ...]) -> list[CaptureWarning]:
    """Return a warning for each pass, other than the compile itself, in which something was compiled."""
    return [
        CaptureWarning(
            id="compiled-while-measured",
            text=f"{audit.compiles_after - audit.compiles_before} compilations happened in the pass '{audit.name}': "
            "what it measured is not the code that the report shows",
        )
        for audit in audits
        if audit.name != "compiled: compile" and audit.compiles_after != audit.compiles_before
    ]
