"""Finds a target. In: a name of the table, or the path of a JSON file. Out: a checked Target.

A file's errors name the field, and what is accepted there.
"""

import json
from pathlib import Path

import msgspec

from compdiff.errors import CompdiffError
from compdiff.model import Target
from compdiff.targets.table import TARGETS

_MAX_FILE_BYTES = 1 << 20
_POSITIVE = (
    "multiprocessors",
    "clock_mhz",
    "memory_bytes",
    "memory_gb_per_s",
    "l2_bytes",
    "shared_bytes_per_multiprocessor",
    "shared_bytes_per_block",
    "threads_per_multiprocessor",
    "blocks_per_multiprocessor",
    "registers_per_multiprocessor",
    "warp_size",
)
_OLDEST = (7, 5)  # what the ptxas that comes with triton still compiles for
_REQUIRED_RATES = ("float32",)
_HINT = "`compdiff targets --json h200` prints a complete file to start from."


def find_target(text: str) -> Target:
    """Return the target that a name or a path of a JSON file means.

    Raises:
        CompdiffError: there is none of that name, or the file is wrong: says which field.
    """
    if text.lower() in TARGETS:
        return TARGETS[text.lower()]
    path = Path(text)
    if path.suffix == ".json" or path.exists():
        return read_target(path)
    raise CompdiffError(
        f"--target {text!r}: no such target",
        f"Known: {', '.join(TARGETS)}; or give the path of a JSON file. {_HINT}",
    )


def read_target(path: Path) -> Target:
    """Return the target that a JSON file describes.

    Raises:
        CompdiffError: the file cannot be read, or a field is missing, unknown or wrong.
    """
    try:
        if path.stat().st_size > _MAX_FILE_BYTES:
            raise CompdiffError(f"{path}: too large for a target", _HINT)
        content: object = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CompdiffError(f"{path}: {error.strerror or error}", _HINT) from error
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise CompdiffError(f"{path} is not JSON: {error}", _HINT) from error
    return checked(content, str(path))


def checked(content: object, where: str) -> Target:
    """Return a decoded file as a target.

    Raises:
        CompdiffError: names all missing fields, all unknown ones, or the first with a wrong value.
    """
    if not isinstance(content, dict):
        raise CompdiffError(
            f"{where}: a target is an object, not a {type(content).__name__}", _HINT
        )
    _check_names(content, where)
    try:
        target = msgspec.convert(content, Target)
    except msgspec.ValidationError as error:
        raise CompdiffError(f"{where}: {_field_text(str(error))}", _HINT) from error
    _check_values(target, where)
    return target


def _check_names(content: dict[object, object], where: str) -> None:
    required = [field.name for field in msgspec.structs.fields(Target) if field.required]
    missing = [name for name in required if name not in content]
    unknown = sorted(str(name) for name in content if name not in Target.__struct_fields__)
    if missing:
        raise CompdiffError(f"{where}: missing {', '.join(missing)}", _HINT)
    if unknown:
        known = ", ".join(Target.__struct_fields__)
        raise CompdiffError(f"{where}: unknown {', '.join(unknown)}", f"Known: {known}.")


def _field_text(message: str) -> str:
    """Return msgspec's message with the field first: `l2_bytes: Expected int, got str`."""
    problem, _, place = message.partition(" - at `$")
    field = place.rstrip("`").lstrip(".")
    return f"{field}: {problem}" if field else problem


def _check_values(target: Target, where: str) -> None:
    for name in _POSITIVE:
        value = getattr(target, name)
        if value <= 0:
            raise CompdiffError(f"{where}: {name} is {value}, not a positive number", _HINT)
    for dtype, rate in target.peak_tflops.items():
        if rate <= 0:
            raise CompdiffError(
                f"{where}: peak_tflops.{dtype} is {rate}, not a positive number", _HINT
            )
    absent = [dtype for dtype in _REQUIRED_RATES if dtype not in target.peak_tflops]
    if absent:
        raise CompdiffError(f"{where}: peak_tflops lacks {', '.join(absent)}", _HINT)
    if tuple(target.capability) < _OLDEST:
        raise CompdiffError(
            f"{where}: capability {target.capability[0]}.{target.capability[1]} is too old",
            f"Triton's ptxas compiles for {_OLDEST[0]}.{_OLDEST[1]} and newer.",
        )
