"""A run's row in the index. In: a run, and when it was measured and of which commit. Out: the row's columns."""

import math
from collections import Counter
from datetime import datetime, timezone
from hashlib import sha256

import msgspec

from compdiff import __version__
from compdiff.analysis import analyse
from compdiff.archive.entry import Commit
from compdiff.archive.index import Value
from compdiff.archive.rows import ENVIRONMENT
from compdiff.archive.texts import plain, utc, utc_text
from compdiff.errors import CompdiffError
from compdiff.model import Capture, Diff, Run, Samples
from compdiff.timing import summary

_ENCODER = msgspec.json.Encoder(order="sorted")
_LARGEST = 2**63 - 1
_LONGEST_FAILURE = 1000


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
    now = datetime.now(timezone.utc)
    of = commit or commit_of(run)
    diff = analyse(run)
    columns: dict[str, Value] = {
        **_of_case(run),
        **_numbers(run),
        "rules": _json(Counter(rewrite.rule for rewrite in diff.rewrites)),
        "unexplained": _unexplained(diff),
        "analysed_by": __version__,
        "created": utc(when) if when else utc_text(run.created) or utc(now),
        "added": utc(now, "microseconds"),
        "commit_id": of.id.lower(),
        "branch": of.branch,
        "dirty": int(of.dirty),
        "environment": environment["id"],
    }
    return RowOfRun({name: _fit(name, value) for name, value in columns.items()}, environment)


def facts_of(run: Run) -> dict[str, Value]:
    """Return those columns of a run and its environment that follow from it without analysis."""
    environment = {name: value for name, value in _environment(run).items() if name != "id"}
    columns = {**_of_case(run), **_numbers(run), **environment}
    return {name: _fit(name, value) for name, value in columns.items()}


def commit_of(run: Run) -> Commit:
    """Return the commit that a run says it is of."""
    found = run.environment
    return Commit(id=found.git_commit, branch=found.git_branch, dirty=found.git_dirty)


def _of_case(run: Run) -> dict[str, Value]:
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
        "failure": f"{failure.stage}: {failure.message}"[:_LONGEST_FAILURE] if failure else "",
    }


def _environment(run: Run) -> dict[str, Value]:
    found = run.environment
    name = run.right.device_name or run.left.device_name or found.device or found.cpu
    values = {
        field: name if field == "device_name" else str(getattr(found, field))
        for field in ENVIRONMENT
    }
    columns: dict[str, Value] = {field: plain(value) for field, value in values.items()}
    return {"id": sha256(_ENCODER.encode(columns)).hexdigest()[:32], **columns}


def _numbers(run: Run) -> dict[str, Value]:
    compiler = run.right.compiler
    compilations = compiler.compilations if compiler else ()
    timing = run.timing
    return {
        **_side_numbers("left", run.left, timing.left if timing else None),
        **_side_numbers("right", run.right, timing.right if timing else None),
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


def _json(value: object) -> str:
    return _ENCODER.encode(value).decode()


def _fit(name: str, value: Value) -> Value:
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, int) and not (math.isfinite(value) and abs(value) <= _LARGEST):
        raise CompdiffError(
            f"{name} is {value}: no index holds so large a number", "The run is damaged."
        )
    return value
