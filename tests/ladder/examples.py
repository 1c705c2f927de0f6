"""Runs of rungs made up by hand. In: what a test varies. Out: runs with times, splits and what a compiler said."""

import random
from collections.abc import Mapping

import msgspec

from compdiff.ladder.build import Climbed, make_ladder
from compdiff.ladder.records import Ladder
from compdiff.ladder.rungs import RUNGS, options_of
from compdiff.model import (
    CaseSpec,
    Compilation,
    CompileOptions,
    Failure,
    Launch,
    Run,
    Samples,
    StepSplit,
    Timing,
)
from tests.builders import capture, compiler, graph, kernel, op, run, wrapper_call

SPEC = CaseSpec(name="case", path="case.py", summary="A case <b>.")
EAGER_NS = 500_000
# What each rung of a GPU takes: microseconds unprofiled, and its profiled step by part, in microseconds.
ON_GPU: Mapping[str, tuple[int, Mapping[str, int]]] = {
    "aot_eager": (
        620,
        {"device": 120, "launches": 80, "lookup": 15, "wrapper": 60, "op_calls": 260, "other": 110},
    ),
    "default": (
        300,
        {"device": 70, "launches": 41, "lookup": 15, "wrapper": 70, "op_calls": 60, "other": 60},
    ),
    "reduce-overhead": (
        130,
        {"device": 70, "launches": 6, "lookup": 15, "wrapper": 25, "wait": 8, "other": 20},
    ),
}
_EAGER_PARTS = {"device": 130, "launches": 90, "op_calls": 240, "other": 70}
_BLOCKS, _STEPS = 30, 20


def samples(center_ns: int, seed: int, spread: float = 0.01) -> Samples:
    """Return blocks around a time, with one of a thousand spreads."""
    draw = random.Random(seed)  # noqa: S311 - synthetic noise
    values = tuple(round(draw.gauss(center_ns, center_ns * spread)) for _ in range(_BLOCKS))
    return Samples(ns_per_call=values, calls=10)


def timing(eager_ns: int, compiled_ns: int, seed: int = 0, others_cpu: float = 0.0) -> Timing:
    """Return a timing of both sides with 1 % of noise."""
    return Timing(
        left=samples(eager_ns, seed),
        right=samples(compiled_ns, seed + 1),
        noise_a=samples(eager_ns, seed + 2),
        noise_b=samples(eager_ns, seed + 3),
        others_cpu=others_cpu,
    )


def splits(parts_us: Mapping[str, int], seed: int = 0) -> tuple[StepSplit, ...]:
    """Return profiled steps whose parts vary by 1 %; the host does half as much again while the device runs."""
    draw = random.Random(seed)  # noqa: S311 - synthetic noise
    found = []
    for _ in range(_STEPS):
        parts = {name: round(us * 1000 * draw.gauss(1, 0.01)) for name, us in parts_us.items()}
        host = {name: ns * 3 // 2 for name, ns in parts.items() if name != "device"}
        on_device = "device" in parts
        found.append(
            StepSplit(
                total_ns=sum(parts.values()), parts_ns=parts, host_ns=host if on_device else {}
            )
        )
    return tuple(found)


def rung_run(name: str, number: int = 0, **fields: object) -> Run:
    """Return the run of a rung on a GPU, as ON_GPU has it."""
    us, parts = ON_GPU[name]
    kind = next(kind for kind in RUNGS if kind.name == name)
    launches = 1 if name == "reduce-overhead" else 2
    launch_name = "cudaGraphLaunch" if name == "reduce-overhead" else "cudaLaunchKernel"
    left = capture(
        "eager",
        (op(0), op(1), op(2)),
        device="cuda:0",
        device_name="a GPU",
        launches=tuple(Launch(id=index, name="cudaLaunchKernel") for index in range(3)),
        splits=splits(_EAGER_PARTS, seed=100 + number),
    )
    right = capture(
        "compiled",
        (op(0),),
        (kernel(0), kernel(1)),
        device="cuda:0",
        device_name="a GPU",
        launches=tuple(Launch(id=index, name=launch_name) for index in range(launches)),
        splits=splits(parts, seed=200 + number),
        compiler=compiler((graph(calls=(wrapper_call(0, "triton_poi", "code"),)),)),
    )
    made = run(
        left,
        right,
        options=options_of(kind, CompileOptions()),
        timing=timing(EAGER_NS + number * 300, us * 1000, seed=10 * number),
    )
    return msgspec.structs.replace(made, **fields)


def climbed(*names: str) -> list[Climbed]:
    """Return what came of these rungs of ON_GPU."""
    kinds = {kind.name: kind for kind in RUNGS}
    return [
        Climbed(kind=kinds[name], run=rung_run(name, number)) for number, name in enumerate(names)
    ]


def gpu_ladder() -> Ladder:
    """Return a ladder on a GPU whose last rung failed."""
    failed = Climbed(kind=RUNGS[-1], failure="case: ran out of <memory>")
    return make_ladder(SPEC, [*climbed("aot_eager", "default", "reduce-overhead"), failed])


def with_failure(made: Run, message: str = "no compiler") -> Run:
    """Return a run that ended while it was compiled."""
    failure = Failure(stage="compiled: compile", message=message)
    return msgspec.structs.replace(made, failure=failure, timing=None)


def with_compilation(made: Run, **fields: object) -> Run:
    """Return a run whose one compilation has these fields."""
    known = made.right.compiler
    assert known is not None
    compilation: Compilation = msgspec.structs.replace(known.compilations[0], **fields)
    account = msgspec.structs.replace(known, compilations=(compilation,))
    return msgspec.structs.replace(
        made, right=msgspec.structs.replace(made.right, compiler=account)
    )
