"""Saved runs. In: a Run, or a path. Out: canonical, validated files: sorted JSON, no clock in them.

A file ending in `.gz` is gzipped; any other is plain JSON. Reading decides by content, not by name.
Reading never executes anything from the file; what does not fit is refused with its place.
"""

import gzip
import io
import os
import tempfile
import zlib
from pathlib import Path

import msgspec

from compdiff.errors import CompdiffError, FormatError
from compdiff.model import RUN_SCHEMA, Run

RUN_FILE = "run.json.gz"
"""The name of a saved run in the folder of its case."""
MAX_RUN_BYTES = 2 << 30
"""Largest run that is read: a small gzip file can decompress to more than the machine's memory."""

# Of a capture of thousands of op calls, 9 takes five times as long and saves an eighth.
_LEVEL = 5
_GZIP_MAGIC = b"\x1f\x8b"
_FAMILY, _, _VERSION = RUN_SCHEMA.rpartition("/")
_ENCODER = msgspec.json.Encoder(order="sorted")
_DECODER = msgspec.json.Decoder(Run)


class _Header(msgspec.Struct):
    """What every file of compdiff starts with, whatever its version."""

    schema: str


_HEADER_DECODER = msgspec.json.Decoder(_Header)


def read_run(path: Path) -> Run:
    """Return the run in a file, gzipped or plain, or in a folder that `compdiff run` wrote for it.

    Raises:
        FormatError: the file is no run, is damaged, too large, or from a newer compdiff.
        CompdiffError: the file cannot be read.
    """
    file = path / RUN_FILE if path.is_dir() else path
    return decode_run(_content(file), name=str(file))


def write_run(run: Run, path: Path) -> None:
    """Write a run so that equal runs give equal bytes; gzipped if the name ends in `.gz`.

    Raises:
        CompdiffError: the file cannot be written.
    """
    data = encode_run(run)
    write_atomic(path, gzip.compress(data, _LEVEL, mtime=0) if path.suffix == ".gz" else data)


def encode_run(run: Run) -> bytes:
    """Return a run as canonical JSON: the schema, then keys in sorted order; defaults left out."""
    # msgspec leaves out a schema equal to its default, yet a file must say what it is.
    body = _ENCODER.encode(msgspec.structs.replace(run, schema=RUN_SCHEMA))
    return b'{"schema":' + _ENCODER.encode(RUN_SCHEMA) + b"," + body[1:] + b"\n"


def decode_run(data: bytes, *, name: str) -> Run:
    """Return the run in JSON bytes; `name` is what to call them in an error.

    Raises:
        FormatError: naming `name` and the field that does not fit.
    """
    _check_schema(data, name)
    try:
        return _DECODER.decode(data)
    except msgspec.ValidationError as error:
        raise FormatError(
            f"{name}: not a valid {RUN_SCHEMA} file: {_place(error)}",
            "It was edited, or made by a development version: measure the case again.",
        ) from error
    except msgspec.DecodeError as error:  # the header decoder stops early where the rest is broken
        raise _broken(name, str(error)) from error


def write_atomic(path: Path, data: bytes) -> None:
    """Write a file whole or not at all: readers see the old content or the new, never a part.

    Raises:
        CompdiffError: naming the file and what the system said; nothing is left behind.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, data)
    except OSError as error:
        raise CompdiffError(
            f"cannot write {path}: {error.strerror or error}",
            "Check the folder's permissions and free space, or choose another with --out.",
        ) from error


def _replace(path: Path, data: bytes) -> None:
    # mkstemp makes a file that only its owner can read; give it the mode that open() would have.
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), 0o666 & ~_umask())
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:  # Ctrl-C too must leave nothing behind
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    """Return the process's umask, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _content(path: Path) -> bytes:
    """Return a file's bytes, decompressed if they are gzipped."""
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_RUN_BYTES + 1)
    except OSError as error:
        raise CompdiffError(
            f"cannot read {path}: {error.strerror or error}",
            "Give the run.json.gz that `compdiff run` wrote.",
        ) from error
    data = _decompressed(raw, str(path)) if raw.startswith(_GZIP_MAGIC) else raw
    if len(data) > MAX_RUN_BYTES:
        raise FormatError(
            f"{path}: holds more than {MAX_RUN_BYTES >> 20} MiB, more than any run",
            "The file is damaged or was made to exhaust memory: do not use it.",
        )
    return data


def _decompressed(raw: bytes, name: str) -> bytes:
    """Return at most one byte more than the limit, so that the caller sees that there was more."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(raw)) as file:
            return file.read(MAX_RUN_BYTES + 1)
    except EOFError as error:
        raise FormatError(f"{name}: the gzip data ends early", "Copy the file again.") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise FormatError(f"{name}: damaged gzip data ({error})", "Copy the file again.") from error


def _check_schema(data: bytes, name: str) -> None:
    try:
        schema = _HEADER_DECODER.decode(data).schema
    except msgspec.ValidationError as error:
        raise FormatError(
            f"{name}: not a compdiff run ({_place(error)})",
            "Give the run.json.gz that `compdiff run` wrote.",
        ) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _broken(name, str(error)) from error
    if schema != RUN_SCHEMA:
        raise _wrong_schema(schema, name)


def _wrong_schema(schema: str, name: str) -> FormatError:
    family, _, version = schema.rpartition("/")
    if family == _FAMILY and version.isdecimal() and int(version) > int(_VERSION):
        return FormatError(
            f"{name}: schema {schema} is newer than this compdiff, which reads {RUN_SCHEMA}",
            "Upgrade compdiff.",
        )
    return FormatError(
        f"{name}: schema {schema!r} is not {RUN_SCHEMA}",
        "Give the run.json.gz that `compdiff run` wrote.",
    )


def _broken(name: str, reason: str) -> FormatError:
    return FormatError(
        f"{name}: not JSON, or cut short ({reason})",
        "Give the run.json.gz that `compdiff run` wrote; if it is one, copy it again.",
    )


def _place(error: msgspec.ValidationError) -> str:
    """Return msgspec's message, field path first: `left.op_calls[0].id: Expected int, got str`."""
    text, separator, path = str(error).rpartition(" - at `")
    return f"{path.rstrip('`').removeprefix('$.')}: {text}" if separator else str(error)
