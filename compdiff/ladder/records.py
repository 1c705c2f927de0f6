"""The ladder as data (schema `compdiff.ladder/1`). In: nothing. Out: immutable records with integer nanoseconds.

Every field is written, null where nothing is known, and an unknown field is refused.
"""

from typing import Literal

import msgspec

from compdiff.model import Basis
from compdiff.timing import Verdict

LADDER_SCHEMA = "compdiff.ladder/1"

CudaGraphState = Literal["replayed", "planned", "skipped", "not seen", "not asked"]
PaybackState = Literal["pays", "never", "unclear", "unknown"]


class LadderRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of the ladder's parts."""


class StepTime(LadderRecord, frozen=True, kw_only=True):
    """The unprofiled time of a step: median, its 95 % interval, and the range of all samples."""

    median_ns: int
    low_ns: int
    high_ns: int
    least_ns: int
    most_ns: int
    samples: int


class PartTime(LadderRecord, frozen=True, kw_only=True):
    """One part of the profiled step, and the 95 % interval of its median over the steps.

    `host_ns` is how long the host did this in all, also while the device ran kernels; None where no device ran any.
    """

    name: str
    ns: int
    low_ns: int
    high_ns: int
    host_ns: int | None = None


class Split(LadderRecord, frozen=True, kw_only=True):
    """What the time of a profiled step went to: the mean of the middle half of `steps`; parts add up to `total_ns`."""

    steps: int
    total_ns: int
    parts: tuple[PartTime, ...]


class Speed(LadderRecord, frozen=True, kw_only=True):
    """Time before over time after with its 95 % interval: above 1, after is faster. `noise` is what noise alone may do."""

    verdict: Verdict
    median: float
    low: float
    high: float
    noise: float | None


class Payback(LadderRecord, frozen=True, kw_only=True):
    """After how many calls compiling has paid back, against eager mode; `calls` has its 95 % interval where it pays."""

    state: PaybackState
    compile_ns: int
    calls: int | None = None
    low: int | None = None
    high: int | None = None


class CudaGraph(LadderRecord, frozen=True, kw_only=True):
    """Whether kernels run as a CUDA graph; `reasons` are Inductor's for those that do not."""

    state: CudaGraphState
    reasons: tuple[str, ...] = ()


class Work(LadderRecord, frozen=True, kw_only=True):
    """The estimated work of a planned rung: never measured."""

    flops: int
    bytes_moved: int
    ns: int


class Counts(LadderRecord, frozen=True, kw_only=True):
    """What one step does. Planned launches are counted: one a kernel, and one a CUDA graph."""

    op_calls: int
    kernels: int
    launches: int
    graphs: int
    graph_breaks: int


class Rung(LadderRecord, frozen=True, kw_only=True):
    """One way to run the case. With a `failure` only what was reached before it is known.

    `folder` holds the report of the rung against eager mode; empty for eager itself and where there is none. `speed` is
    that against eager mode, measured in turns in one process.
    """

    name: str
    what: str
    folder: str = ""
    failure: str = ""
    counts: Counts | None = None
    step: StepTime | None = None
    split: Split | None = None
    speed: Speed | None = None
    payback: Payback | None = None
    cuda_graph: CudaGraph | None = None
    work: Work | None = None
    notes: tuple[str, ...] = ()


class PartChange(LadderRecord, frozen=True, kw_only=True):
    """One part of the profiled step in two rungs; `faster` says that it takes less time than before."""

    name: str
    before_ns: int
    after_ns: int
    verdict: Verdict


class Change(LadderRecord, frozen=True, kw_only=True):
    """From one rung to the next. `same_process` says whether both were timed in turns in one process.

    `same_code` says whether both run the same generated kernels and calls, None where one was not compiled.
    """

    before: str
    after: str
    speed: Speed | None
    same_process: bool
    same_code: bool | None
    parts: tuple[PartChange, ...] = ()


class Ladder(LadderRecord, frozen=True, kw_only=True):
    """A case on all rungs, and from rung to rung. `eager_ns` is eager mode's median in the process of each rung."""

    schema: str
    case: str
    summary: str
    basis: Basis
    device: str
    device_name: str
    environment: dict[str, str]
    rungs: tuple[Rung, ...]
    changes: tuple[Change, ...]
    eager_ns: tuple[int, ...]
    process_noise: float | None
    others_cpu: float


def encode_ladder(ladder: Ladder) -> bytes:
    """Return ladder.json: sorted keys, one-space indent, a newline at the end."""
    return msgspec.json.format(msgspec.json.encode(ladder, order="sorted"), indent=1) + b"\n"
