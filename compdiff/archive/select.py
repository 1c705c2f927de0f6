"""Which runs fit a filter. In: a Filter. Out: a WHERE clause for what SQL can tell, and a predicate on rows for the rest."""

import re
from collections.abc import Callable
from functools import cache

import msgspec

from compdiff.archive.entry import Filter
from compdiff.archive.index import Row, Value
from compdiff.archive.rows import PLACES
from compdiff.errors import CompdiffError

NEWEST_FIRST = "ORDER BY runs.created DESC, runs.added DESC, runs.id"
# Field of the filter -> condition on its value.
_CONDITIONS = {
    "case": "runs.case_name = :case",
    "basis": "runs.basis = :basis",
    "target": "runs.target = :target",
    "host": "environments.host = :host",
    "branch": "runs.branch = :branch",
    "since": "runs.created >= :since",
    "until": "runs.created < :until",
    "tag": "runs.id IN (SELECT run FROM tags WHERE name = :tag)",
}
# Prefixes of hexadecimal digits: a range, which an index of either kind answers without LIKE and its special characters.
_PREFIXES = {"id": "runs.id", "commit": "runs.commit_id"}
_FLAGS = {"dirty": "runs.dirty", "pinned": "runs.pinned"}
_VERSIONS = ("torch", "triton", "cuda", "driver")
_DEVICES = frozenset({"cpu", "cuda"})
_HEX = re.compile(r"[0-9a-f]+")

Predicate = Callable[[Row], bool]


def where(wanted: Filter) -> tuple[str, dict[str, Value]]:
    """Return the conditions that SQL can check, as a WHERE clause or "", and their values.

    Raises:
        CompdiffError: a prefix is not made of hexadecimal digits.
    """
    conditions, values = [], dict[str, Value]()
    for field, condition in _CONDITIONS.items():
        if value := getattr(wanted, field):
            conditions.append(condition)
            values[field] = value
    for field, column in _PREFIXES.items():
        if value := _prefix(field, getattr(wanted, field)):
            conditions.append(f"{column} >= :{field} AND {column} < :{field}_end")
            values |= {field: value, f"{field}_end": value + "g"}
    for field, column in _FLAGS.items():
        if (flag := getattr(wanted, field)) is not None:
            conditions.append(f"{column} = {int(flag)}")
    if wanted.device in _DEVICES:
        conditions.append("runs.device = :device")
        values["device"] = wanted.device
    return (f"WHERE {' AND '.join(conditions)} " if conditions else ""), values


def predicate(wanted: Filter) -> Predicate | None:
    """Return what tells the rest of the filter; None where SQL tells all.

    Raises:
        CompdiffError: a version specifier is none.
    """
    versions = {field: getattr(wanted, field) for field in _VERSIONS}
    checks = [_version_check(field, text) for field, text in versions.items() if text]
    if wanted.device and wanted.device not in _DEVICES:
        checks.append(_device_check(wanted.device))
    if wanted.params:
        checks.append(lambda row: _holds(row[PLACES["params"]], wanted.params))
    if wanted.options:
        checks.append(lambda row: _holds(row[PLACES["options"]], wanted.options))
    return (lambda row: all(check(row) for check in checks)) if checks else None


def _prefix(field: str, text: str) -> str:
    if text and not _HEX.fullmatch(text.lower()):
        raise CompdiffError(
            f"{text!r} is no start of {'an' if field == 'id' else 'a'} {field}: it is made of hexadecimal digits",
            "`compdiff archive list` shows them.",
        )
    return text.lower()


def _version_check(field: str, text: str) -> Predicate:
    # Importing it takes longer than reading the index, and most filters ask for no version.
    from packaging.specifiers import InvalidSpecifier, SpecifierSet  # noqa: PLC0415
    from packaging.version import InvalidVersion, Version  # noqa: PLC0415

    # A bare version asks for all that start with it.
    spelled = f"=={text}.*" if text[:1].isdigit() else text
    try:
        specifier = SpecifierSet(spelled)
    except InvalidSpecifier as error:
        raise CompdiffError(
            f"{text!r} is no version of {field}", "Say for example '>=2.12', '==2.14.1' or 2.14."
        ) from error

    @cache
    def fits(version: str) -> bool:
        try:
            return specifier.contains(Version(version), prereleases=True)
        except (InvalidVersion, TypeError):  # nothing known, or somebody wrote no text there
            return False

    return lambda row: fits(row[PLACES[field]])


def _device_check(text: str) -> Predicate:
    part = text.lower()
    name, target = PLACES["device_name"], PLACES["target"]
    return lambda row: part in str(row[name]).lower() or part == str(row[target]).lower()


@cache
def _object(text: object) -> dict[str, object]:
    try:
        return msgspec.json.decode(str(text), type=dict[str, object])
    except msgspec.DecodeError:
        return {}


def _holds(text: object, pairs: tuple[tuple[str, str], ...]) -> bool:
    """Return whether a JSON object holds all pairs of a name and a value as JSON, at the top or in what it holds."""
    found = _object(text)
    return all(_json(found.get(name)) == value for name, value in pairs)


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
