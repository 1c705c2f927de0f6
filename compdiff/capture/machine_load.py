"""What else the machine does. In: two moments. Out: the share of its CPU time that other processes used between them.

OpenMP's barriers spin: with another busy process on the same cores a parallel region can take a hundred times as long, so
timings of CPU code taken on a busy machine mean nothing.
"""

import os
from dataclasses import dataclass
from pathlib import Path

# Fields of the first line of /proc/stat after "cpu": user nice system idle iowait irq softirq steal. Source: proc(5).
_IDLE_FIELDS = (3, 4)
_COUNTED_FIELDS = 8


@dataclass(frozen=True)
class Moment:
    """CPU time so far, seconds: of the whole machine, of that the idle part, and of this process with its children."""

    total_s: float
    idle_s: float
    own_s: float


def now() -> Moment | None:
    """Return the CPU times now, or None where the system does not tell."""
    try:
        line = Path("/proc/stat").read_text(encoding="ascii").partition("\n")[0]
    except OSError:
        return None
    ticks = [int(field) for field in line.split()[1 : 1 + _COUNTED_FIELDS]]
    per_second = os.sysconf("SC_CLK_TCK")
    own = os.times()
    return Moment(
        total_s=sum(ticks) / per_second,
        idle_s=sum(ticks[index] for index in _IDLE_FIELDS) / per_second,
        own_s=own.user + own.system + own.children_user + own.children_system,
    )


def others_share(before: Moment | None, after: Moment | None) -> float:
    """Return which share of all CPU time between two moments other processes used, 0 to 1; 0 where unknown."""
    if before is None or after is None:
        return 0.0
    total = after.total_s - before.total_s
    busy = total - (after.idle_s - before.idle_s)
    others = busy - (after.own_s - before.own_s)
    return min(max(others / total, 0.0), 1.0) if total > 0 else 0.0
