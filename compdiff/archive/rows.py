"""A run's row in the index. In: a run, and when and of which commit it is. Out: the row; and an Entry from a row."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from hashlib import sha256
from typing import Any

import msgspec

from compdiff import __version__
from compdiff.analysis import analyse
from compdiff.archive.entry import Commit, Entry
from compdiff.archive.index import Row, Value
from compdiff.errors import CompdiffError, FormatError
from compdiff.model import Capture, Diff, Run, Samples
from compdiff.timing import summary

_ENVIRONMENT = ("device_name", "torch", "triton", "cuda", "driver", "python", "host")
_SIDE = ("op_calls", "launches", "kernels", "ns", "low_ns", "high_ns", "samples", "peak_bytes")
_OF_RUN = (
    "id",
    "bytes",
    "created",
    "added",
    "case_name",
    "param_set",
    "params",
    "dtype",
    "options",
    "basis",
    "target",
    "device",
    "commit_id",
    "branch",
    "dirty",
    *(f"left_{name}" for name in _SIDE),
    *(f"right_{name}" for name in _SIDE),
    "rules",
    "unexplained",
    "graph_breaks",
    "recompiles",
    "compile_ns",
    "numerics_within",
    "failure",
    "analysed_by",
    "pinned",
)
_SELECTED = (
    *(f"runs.{name}" for name in _OF_RUN),
    *(f"environments.{name}" for name in _ENVIRONMENT),
)
SELECT = (
    f"SELECT {', '.join(_SELECTED)} FROM runs "  # noqa: S608 - our own names
    "JOIN environments ON environments.id = runs.environment "
)
_ENCODER = msgspec.json.Encoder(order="sorted")
_RULES = msgspec.json.Decoder(dict[str, int])
_LARGEST = 2**63 - 1


class RowOfRun(msgspec.Struct, frozen=True):
    """What the index holds of a run: its own columns, and those of its environment, each with an `id`."""

    run: dict[str, Value]
    environment: dict[str, Value]


def make_row(run: Run, *, when: datetime | None, commit: Commit | None) -> RowOfRun:
    """Return what an index holds of a run, but for what names its blobs.

    Raises:
        CompdiffError: the run breaks the conservation law, or has a number that fits no index.
    """
    environment = _environment(run)
    added = utc(datetime.now(timezone.utc), "microseconds")
    columns = {
        **_key(run, commit or commit_of(run)),
        **_numbers(run, analyse(run)),
        "created": (utc(when) if when else utc_text(run.created))
        or utc(datetime.now(timezone.utc)),
        "added": added,
        "environment": environment["id"],
        "analysed_by": __version__,
        "pinned": 0,
    }
    return RowOfRun({name: _fit(name, value) for name, value in columns.items()}, environment)


def make_entry(row: Row, tags: Sequence[str] = ()) -> Entry:
    """Return the entry of a row of `SELECT`.

    Raises:
        FormatError: the row holds what no row of compdiff's holds.
    """
    found = dict(zip((*_OF_RUN, *_ENVIRONMENT), row, strict=True))
    values = {
        **{name: found[name] for name in (*_PLAIN, *_ENVIRONMENT)},
        "case": found["case_name"],
        "left": _side(found, "left"),
        "right": _side(found, "right"),
        "commit": {
            "id": found["commit_id"],
            "branch": found["branch"],
            "dirty": bool(found["dirty"]),
        },
        "numerics_within": None
        if found["numerics_within"] is None
        else found["numerics_within"] > 0,
        "pinned": bool(found["pinned"]),
        "tags": tuple(tags),
    }
    try:
        values["rules"] = _RULES.decode(found["rules"])
        # SQLite keeps what it is given, whatever the column's type.
        return msgspec.convert(values, Entry)
    except (msgspec.DecodeError, TypeError) as error:
        raise FormatError(
            f"the index is damaged: its row of run {str(found['id'])[:12]!r} holds what no run has ({error})",
            "`compdiff archive verify` names all such rows.",
        ) from error


_PLAIN = (
    "id",
    "bytes",
    "created",
    "added",
    "param_set",
    "params",
    "dtype",
    "options",
    "basis",
    "target",
    "device",
    "unexplained",
    "graph_breaks",
    "recompiles",
    "compile_ns",
    "failure",
    "analysed_by",
)


def utc(when: datetime, timespec: str = "seconds") -> str:
    """Return a time as the index writes it: UTC, so that texts are in the order of times."""
    text = when.astimezone(timezone.utc).isoformat(timespec=timespec)
    return text.replace("+00:00", "Z")


def utc_text(text: str) -> str:
    """Return an ISO time as the index writes it; one without a zone is UTC; "" for what is no time."""
    try:
        when = datetime.fromisoformat(text.replace("Z", "+00:00"))
        return utc(when if when.tzinfo else when.replace(tzinfo=timezone.utc))
    except (ValueError, OverflowError):
        return ""


def commit_of(run: Run) -> Commit:
    """Return the commit that a run says it is of."""
    found = run.environment
    return Commit(id=found.git_commit, branch=found.git_branch, dirty=found.git_dirty)


def plain(text: str) -> str:
    """Return a text that every index takes: PostgreSQL has no character 0, and neither has half a surrogate pair."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode(errors="replace").decode()


def _key(run: Run, commit: Commit) -> dict[str, Value]:
    failure = run.failure
    return {
        "case_name": run.case.name,
        "param_set": run.case.param_set,
        "params": _json(run.case.params),
        "dtype": run.case.dtype,
        "options": _json(run.options),
        "basis": run.right.basis,
        "target": run.target.name if run.target else "",
        "device": run.right.device.partition(":")[0],
        "commit_id": commit.id,
        "branch": commit.branch,
        "dirty": int(commit.dirty),
        "failure": f"{failure.stage}: {failure.message}"[:1000] if failure else "",
    }


def _environment(run: Run) -> dict[str, Value]:
    found = run.environment
    name = run.right.device_name or run.left.device_name or found.device or found.cpu
    values = {
        field: name if field == "device_name" else str(getattr(found, field))
        for field in _ENVIRONMENT
    }
    columns: dict[str, Value] = {field: plain(value) for field, value in values.items()}
    return {"id": sha256(_ENCODER.encode(columns)).hexdigest()[:32], **columns}


def _numbers(run: Run, diff: Diff) -> dict[str, Value]:
    compiler = run.right.compiler
    compilations = compiler.compilations if compiler else ()
    timing = run.timing
    return {
        **_side_numbers("left", run.left, timing.left if timing else None),
        **_side_numbers("right", run.right, timing.right if timing else None),
        "rules": _json(Counter(rewrite.rule for rewrite in diff.rewrites)),
        "unexplained": _unexplained(diff),
        "graph_breaks": len(compiler.graph_breaks) if compiler else 0,
        "recompiles": len(compiler.recompiles) if compiler else 0,
        "compile_ns": sum(item.phases_ns.get("dynamo", 0) for item in compilations) or None,
        "numerics_within": _within(run),
    }


def _within(run: Run) -> int | None:
    within = run.numerics.within if run.numerics else None
    return None if within is None else int(within)


def _unexplained(diff: Diff) -> int:
    fates = sum(fate.fate == "unexplained" for fate in diff.fates.values())
    origins = (not origin.op_calls and not origin.introduced for origin in diff.origins.values())
    return fates + sum(origins)


def _side_numbers(side: str, capture: Capture, samples: Samples | None) -> dict[str, Value]:
    interval = summary(samples) if samples and samples.ns_per_call else None
    values = {
        "op_calls": len(capture.op_calls),
        "launches": len(capture.launches),
        "kernels": len(capture.kernels),
        "ns": interval.median_ns if interval else None,
        "low_ns": interval.low_ns if interval else None,
        "high_ns": interval.high_ns if interval else None,
        "samples": len(samples.ns_per_call) if samples and interval else None,
        "peak_bytes": capture.peak_bytes,
    }
    return {f"{side}_{name}": value for name, value in values.items()}


def _side(found: Mapping[str, Any], side: str) -> dict[str, Any]:
    """Return the numbers of a side, to be made SideNumbers."""
    values = {name: found[f"{side}_{name}"] for name in _SIDE}
    times = {
        "median_ns": values.pop("ns"),
        "low_ns": values.pop("low_ns"),
        "high_ns": values.pop("high_ns"),
        "samples": values.pop("samples"),
    }
    return {**values, "time": None if times["median_ns"] is None else times}


def _json(value: object) -> str:
    return _ENCODER.encode(value).decode()


def _fit(name: str, value: Value) -> Value:
    if isinstance(value, str):
        return plain(value)
    if value is not None and not (math.isfinite(value) and abs(value) <= _LARGEST):
        raise CompdiffError(
            f"{name} is {value}: no index holds so large a number", "The run is damaged."
        )
    return value
