"""Entries from the rows of an index. In: a row. Out: an Entry; what does not fit is refused."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from compdiff.archive.entry import Entry
from compdiff.archive.index import Row
from compdiff.errors import FormatError

ENVIRONMENT = ("device_name", "torch", "triton", "cuda", "driver", "python", "host")
SIDE = ("op_calls", "launches", "kernels", "ns", "low_ns", "high_ns", "samples", "peak_bytes")
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
    *(f"left_{name}" for name in SIDE),
    *(f"right_{name}" for name in SIDE),
    "rules",
    "unexplained",
    "graph_breaks",
    "recompiles",
    "compile_ns",
    "numerics_within",
    "failure",
    "analysed_by",
    "pinned",
    "pinned_by",
    "pinned_why",
    "pinned_at",
)
_SELECTED = (
    *(f"runs.{name}" for name in _OF_RUN),
    *(f"environments.{name}" for name in ENVIRONMENT),
)
SELECT = (
    f"SELECT {', '.join(_SELECTED)} FROM runs "  # noqa: S608 - our own names
    "JOIN environments ON environments.id = runs.environment "
)
_RULES = msgspec.json.Decoder(dict[str, int])


PLACES = {name: place for place, name in enumerate((*_OF_RUN, *ENVIRONMENT))}
"""Which value of a row of `SELECT` is which column."""
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


def make_entry(row: Row, tags: Sequence[str] = ()) -> Entry:
    """Return the entry of a row of `SELECT`.

    Raises:
        FormatError: the row holds what no row of compdiff's holds.
    """
    found = dict(zip((*_OF_RUN, *ENVIRONMENT), row, strict=True))
    values = {
        **{name: found[name] for name in (*_PLAIN, *ENVIRONMENT)},
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
        "pin": _pin(found),
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


def _side(found: Mapping[str, Any], side: str) -> dict[str, Any]:
    """Return the numbers of a side, to be made SideNumbers."""
    values = {name: found[f"{side}_{name}"] for name in SIDE}
    times = {
        "median_ns": values.pop("ns"),
        "low_ns": values.pop("low_ns"),
        "high_ns": values.pop("high_ns"),
        "samples": values.pop("samples"),
    }
    return {**values, "time": None if times["median_ns"] is None else times}


def _pin(found: Mapping[str, Any]) -> dict[str, Any] | None:
    if not found["pinned"]:
        return None
    return {name: found[f"pinned_{name}"] for name in ("by", "why", "at")}
