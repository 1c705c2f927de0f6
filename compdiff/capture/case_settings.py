"""Reads what a case says beside its function. In: a case module's names. Out: checked settings."""

from collections.abc import Mapping
from typing import TypeVar

import msgspec

from compdiff.errors import CaseError
from compdiff.model import CompileOptions, Expectation

_COMPILE_FIELDS = ("backend", "mode", "dynamic", "fullgraph", "options")
_DEVICE_TYPES = ("cpu", "cuda")

_Kind = TypeVar("_Kind")


class Tolerance(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """TOLERANCE of a case: two values agree when `abs(a - b) <= atol + rtol * abs(b)`."""

    rtol: float
    atol: float


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What a case says beside its function; `compile_kwargs` holds only what COMPILE names."""

    backward: bool
    compile_kwargs: dict[str, object]
    tolerance: Tolerance | None
    expectation: Expectation | None


def read_settings(names: Mapping[str, object], device_type: str, path: str) -> Settings:
    """Return BACKWARD, COMPILE, TOLERANCE and EXPECT from the names of a case module.

    EXPECT's part for this device type is laid over the rest.

    Raises:
        CaseError: a setting has an unknown field or a value of the wrong type.
    """
    return Settings(
        backward=_backward(names, path),
        compile_kwargs=_compile_kwargs(names.get("COMPILE"), f"{path}: COMPILE"),
        tolerance=_tolerance(names.get("TOLERANCE"), f"{path}: TOLERANCE"),
        expectation=_expectation(names.get("EXPECT"), device_type, f"{path}: EXPECT"),
    )


def _backward(names: Mapping[str, object], path: str) -> bool:
    value = names.get("BACKWARD", False)
    if not isinstance(value, bool):
        raise CaseError(f"{path}: BACKWARD is {value!r}.", "Set it to True or False.")
    return value


def _compile_kwargs(given: object, where: str) -> dict[str, object]:
    if given is None:
        return {}
    fields = _fields(given, _COMPILE_FIELDS, where)
    _convert(fields, CompileOptions, where)
    return fields


def _tolerance(given: object, where: str) -> Tolerance | None:
    if given is None:
        return None
    return _convert(_fields(given, Tolerance.__struct_fields__, where), Tolerance, where)


def _expectation(given: object, device_type: str, where: str) -> Expectation | None:
    if given is None:
        return None
    known = Expectation.__struct_fields__
    fields = _fields(given, (*known, *_DEVICE_TYPES), where)
    parts = {}
    for name in _DEVICE_TYPES:  # both, so that a slip in one device's part is found on any machine
        place = f"{where}[{name!r}]"
        parts[name] = _fields(fields.pop(name, {}), known, place)
        _convert(parts[name], Expectation, place)
    return _convert(fields | parts.get(device_type, {}), Expectation, where)


def _fields(given: object, known: tuple[str, ...], where: str) -> dict[str, object]:
    """Return a setting as a dict whose names are all known."""
    if not isinstance(given, Mapping):
        raise CaseError(
            f"{where} is a {type(given).__name__}.",
            f"Make it a dict with any of: {', '.join(known)}.",
        )
    unknown = sorted(str(name) for name in given if name not in known)
    if unknown:
        raise CaseError(
            f"{where} has the unknown field {', '.join(unknown)}.", f"Known: {', '.join(known)}."
        )
    return dict(given)


def _convert(given: object, kind: type[_Kind], where: str) -> _Kind:
    try:
        return msgspec.convert(given, kind)
    except msgspec.ValidationError as error:
        raise CaseError(f"{where}: {error}.", f"See {kind.__name__} in docs/cases.md.") from error
