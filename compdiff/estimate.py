"""Roofline estimates and occupancy. In: counts, resources, a Target. Out: Estimate, Occupancy. Nothing here is measured."""

import math
from dataclasses import dataclass

from compdiff.model import Estimate, Target

LAUNCH_NS = 2_000
"""What the shortest kernel takes on the device, in nanoseconds: below it neither bytes nor FLOPs matter.

An assumption, near what empty kernels take on recent GPUs; it sets which kernels are called launch-bound.
"""

_WARPS_STEP = 4  # warps are given out in groups of four: one for each scheduler
_REGISTERS_STEP = 256  # registers of a warp are given out in this unit
_SHARED_STEP = 128
_SYSTEM_SHARED_BYTES = (
    1024  # what the system takes of each block's shared memory, from capability 8.0 on
)
_AMPERE = (8, 0)
_TERA = 1_000_000_000_000
_GIGA = 1_000_000_000
_NS_PER_S = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Occupancy:
    """The theoretical share of a multiprocessor's warps that can be resident, and what limits it."""

    share: float
    limited_by: str


def roofline(
    *, flops: int, bytes_read: int, bytes_written: int, rate: str, target: Target
) -> Estimate:
    """Return the estimate of a kernel: the longest of its FLOPs, its bytes and the shortest kernel there is.

    `rate` names the row of `peak_tflops`; a target without that row computes in float32.
    """
    peak = target.peak_tflops.get(rate, target.peak_tflops["float32"]) * _TERA
    moved = bytes_read + bytes_written
    times = {
        "compute": flops * _NS_PER_S / peak,
        "memory": moved * _NS_PER_S / (target.memory_gb_per_s * _GIGA),
        "launch": float(LAUNCH_NS),
    }
    bound = max(times, key=lambda name: times[name])
    return Estimate(
        flops=flops,
        bytes_read=bytes_read,
        bytes_written=bytes_written,
        ns=math.ceil(times[bound]),
        bound=bound,
    )


def occupancy(*, registers: int, shared_bytes: int, warps: int, target: Target) -> Occupancy:
    """Return the theoretical occupancy of a kernel with `registers` a thread and `warps` a block.

    Source: the occupancy calculator of NVIDIA's CUDA documentation (Nsight Compute).
    """
    limit = target.threads_per_multiprocessor // target.warp_size
    of_registers = -(-registers * target.warp_size // _REGISTERS_STEP) * _REGISTERS_STEP
    resident = target.registers_per_multiprocessor // max(of_registers, 1)
    by_registers = resident // _WARPS_STEP * _WARPS_STEP // warps
    system = _SYSTEM_SHARED_BYTES if tuple(target.capability) >= _AMPERE else 0
    of_shared = -(-(shared_bytes + system) // _SHARED_STEP) * _SHARED_STEP
    blocks = {
        "warps": limit // warps,
        "blocks": target.blocks_per_multiprocessor,
        "registers": by_registers,
        "shared memory": target.shared_bytes_per_multiprocessor // of_shared
        if of_shared
        else target.blocks_per_multiprocessor,
    }
    limited_by = min(blocks, key=lambda name: blocks[name])
    return Occupancy(blocks[limited_by] * warps / limit, limited_by)
