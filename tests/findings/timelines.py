"""Runs on a GPU, each made to show one finding of its timeline and no other."""

from dataclasses import dataclass

import msgspec

from compdiff.model import (
    Capture,
    Diff,
    Estimate,
    Fate,
    FateKind,
    Kernel,
    Launch,
    OpCall,
    OpStat,
    Origin,
    Rewrite,
    Run,
)
from tests.builders import capture, op, run

EMPTY = Diff(left_label="eager", right_label="compiled")
LAUNCH = Launch(id=0, name="cudaLaunchKernel")
MICROSECOND = 1_000
GEMM_TN, GEMM_NN = "ampere_sgemm_128x32_tn", "ampere_sgemm_128x32_nn"


@dataclass(frozen=True)
class Side:
    """A side whose device is busy for a share of the step; neither idle nor full unless asked for."""

    kernels: tuple[Kernel, ...] = ()
    busy: float = 0.7
    op_calls: tuple[OpCall, ...] = ()
    launches: tuple[Launch, ...] = (LAUNCH,)
    basis: str = "measured"
    op_stats: tuple[OpStat, ...] = ()

    def capture(self) -> Capture:
        """Return the side as a capture."""
        total = sum(kernel.duration_ns for kernel in self.kernels)
        return capture(
            device="cuda:0",
            basis=self.basis,
            op_calls=self.op_calls,
            kernels=self.kernels,
            launches=self.launches,
            op_stats=self.op_stats,
            profile_wall_ns=round(total / self.busy),
        )


def name_of(number: int) -> str:
    """Return a kernel's name that the tables read."""
    return f"ampere_sgemm_{2**number}x64_nn"


def row(*durations_us: int, **fields: object) -> tuple[Kernel, ...]:
    """Return kernels one after another, without gaps, from 0 on."""
    made: list[Kernel] = []
    start = 0
    for number, duration in enumerate(durations_us):
        kernel = Kernel(
            id=number,
            name=name_of(number),
            kind="library",
            start_ns=start,
            duration_ns=duration * MICROSECOND,
        )
        made.append(msgspec.structs.replace(kernel, **fields))
        start += kernel.duration_ns
    return tuple(made)


def shown(left: Side, right: Side | None = None, diff: Diff = EMPTY) -> tuple[Run, Diff]:
    """Return a run with these sides; the right one shows nothing unless given."""
    other = right or Side(row(100, name=GEMM_NN))
    return run(left.capture(), other.capture()), diff


def copying(name: str, kernel: str = "Memcpy DtoD (Device -> Device)") -> Side:
    """Return a side whose only op call launches a copy and a kernel."""
    copy, work = row(10, 100)
    copy = msgspec.structs.replace(copy, name=kernel, kind="memcpy", op_call=0)
    return Side((copy, work), op_calls=(op(0, name),))


def estimated(bound: str) -> Kernel:
    """Return a planned kernel."""
    estimate = Estimate(flops=0, bytes_read=0, bytes_written=0, ns=2_000, bound=bound)
    return Kernel(id=0, name="aten::mm", kind="library", estimate=estimate, modelled="gemm")


def stat(name: str, self_us: int) -> OpStat:
    """Return what the profiler's table says of a name that was called once."""
    ns = self_us * MICROSECOND
    return OpStat(name=name, calls=1, host_self_ns=ns, host_total_ns=ns)


def with_fate(fate: FateKind, left_kernel: str, right_kernel: str) -> tuple[Run, Diff]:
    """Return a run whose one op call has a fate, with a kernel on each side."""
    left, right = (
        Side(row(100, name=name, op_call=0), op_calls=(op(0, "aten::mm"),))
        for name in (left_kernel, right_kernel)
    )
    diff = msgspec.structs.replace(
        EMPTY, fates={"e0": Fate(fate=fate)}, origins={"c0": Origin(op_calls=("e0",))}
    )
    return shown(left, right, diff)


SEEDED = Rewrite(
    id="r1", rule="mm-add-to-addmm", left=("e0",), right=("k0",), outcome="seeded-output"
)
TIMELINES: dict[str, tuple[Run, Diff]] = {
    "overhead-bound": shown(Side(row(100), busy=0.1)),
    "device-bound": shown(Side(row(100, 300), busy=0.97)),
    "small-kernels": shown(Side(row(*[2] * 9))),
    "launch-bound-plan": shown(
        Side((estimated("launch"),), basis="planned"), Side((estimated("memory"),), basis="planned")
    ),
    "late-start": shown(
        Side(
            row(100, start_ns=90 * MICROSECOND),
            op_calls=(op(0, start_ns=10 * MICROSECOND, duration_ns=1),),
        )
    ),
    "waits-for-device": shown(
        Side(row(100), op_calls=(op(0, "aten::_local_scalar_dense", inputs=()),))
    ),
    "pageable-copies": shown(copying("aten::copy_", "Memcpy HtoD (Pageable -> Device)")),
    "hidden-copies": shown(copying("aten::addmm")),
    "device-allocations": shown(
        Side(row(100), launches=(Launch(id=0, name="cudaMalloc", duration_ns=7),))
    ),
    "wide-distribution": shown(Side(row(*[20] * 9, 90, name=GEMM_TN))),
    "many-calls": shown(Side(row(100), op_calls=tuple(op(number) for number in range(200)))),
    "other-kernel": with_fate("kept", GEMM_TN, GEMM_NN),
    "same-kernel": with_fate("rewritten", GEMM_TN, GEMM_TN),
    "other-launch": shown(
        Side(row(100, name=GEMM_TN, grid=(64, 1, 1), block=(128, 1, 1))),
        Side(row(100, name=GEMM_TN, grid=(32, 1, 1), block=(256, 1, 1))),
    ),
    "unknown-kernels": shown(Side(row(100, 100, name="attend_to_all"))),
    "adaptive-kernels": shown(
        Side(
            row(100),
            op_calls=(op(0, "aten::sum"),),
            launches=(
                Launch(id=0, name="cudaOccupancyMaxActiveBlocks", op_call=0, duration_ns=2_000),
                LAUNCH,
            ),
        )
    ),
    "compiled-overhead": shown(
        Side(row(100), op_stats=(stat("TorchDynamo Cache Lookup", 9), stat("aten::mm", 50)))
    ),
}
