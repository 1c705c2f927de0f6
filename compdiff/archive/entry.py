"""What an archive says of a run without reading it. In: nothing. Out: frozen records: Entry, Filter, Commit."""

from typing import NewType

import msgspec

RunId = NewType("RunId", str)
"""The first 32 hexadecimal digits of the SHA-256 of a run's canonical JSON: the same run has the same id everywhere."""


class Commit(msgspec.Struct, frozen=True, kw_only=True):
    """The state of the repository that a run is of; empty where nobody knows. `dirty` says that files differed from it."""

    id: str = ""
    branch: str = ""
    dirty: bool = False


class Pin(msgspec.Struct, frozen=True, kw_only=True):
    """That a run is kept as one to compare with: who said so, why, and when (UTC); empty where nobody said."""

    by: str = ""
    why: str = ""
    at: str = ""


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """The median time of a call and its 95 % interval, nanoseconds, unprofiled; `samples` is how many there were."""

    median_ns: int
    low_ns: int
    high_ns: int
    samples: int


class SideNumbers(msgspec.Struct, frozen=True, kw_only=True):
    """What one side of a run amounts to. `time` is None without samples, `peak_bytes` where nobody measured it."""

    op_calls: int
    launches: int
    kernels: int
    time: Span | None = None
    peak_bytes: int | None = None


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One run of an archive: its key, and its numbers.

    `created` is when it was measured and `added` when it came into the archive, both UTC, `2026-12-03T09:22:44Z`, and
    empty where unknown. `params` and `options` are canonical JSON objects of what is not default. `device` is `cpu` or
    `cuda`, `device_name` the processor or GPU; `host` the machine. `rules` counts the rewrites of each rule, as
    `analysed_by` (a version of compdiff) found them. `failure` is the stage and message of a run that ended early.
    """

    id: RunId
    case: str
    created: str
    added: str
    param_set: str = ""
    params: str = "{}"
    dtype: str = ""
    options: str = "{}"
    basis: str = "measured"
    target: str = ""
    device: str = ""
    device_name: str = ""
    torch: str = ""
    triton: str = ""
    cuda: str = ""
    driver: str = ""
    python: str = ""
    host: str = ""
    commit: Commit = Commit()
    left: SideNumbers
    right: SideNumbers
    rules: dict[str, int] = {}
    unexplained: int = 0
    graph_breaks: int = 0
    recompiles: int = 0
    compile_ns: int | None = None
    numerics_within: bool | None = None
    failure: str = ""
    analysed_by: str = ""
    bytes: int = 0
    tags: tuple[str, ...] = ()
    pin: Pin | None = None

    @property
    def pinned(self) -> bool:
        """Whether the run is pinned: kept by `prune`, and what `pinned` refers to."""
        return self.pin is not None

    @property
    def rewrites(self) -> int:
        """How many rewrites there were."""
        return sum(self.rules.values())


class Filter(msgspec.Struct, frozen=True, kw_only=True):
    """Which runs are asked for: those that fit all that is set. Empty strings, None and () ask for nothing.

    `torch`, `triton`, `cuda` and `driver` are version specifiers (`>=2.12,<3`); a bare version (`2.14`) means any that
    starts with it. `device` is `cpu`, `cuda`, or a part of the device's name in any case (`h200`). `commit` and `id` are
    prefixes of hexadecimal digits. `params` and `options` are pairs of a name and a JSON value that must be among those
    of the run. `since` and `until` are UTC, as `Entry.created`: from the one, before the other. `limit` keeps the newest.
    """

    id: str = ""
    case: str = ""
    params: tuple[tuple[str, str], ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    basis: str = ""
    target: str = ""
    device: str = ""
    torch: str = ""
    triton: str = ""
    cuda: str = ""
    driver: str = ""
    host: str = ""
    branch: str = ""
    commit: str = ""
    dirty: bool | None = None
    tag: str = ""
    pinned: bool | None = None
    since: str = ""
    until: str = ""
    limit: int | None = None
