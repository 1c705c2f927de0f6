"""Trace files. In: a path to .json, .json.gz, .zip, or a folder of ranks. Out: the bytes of one trace."""

import gzip
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from compdiff.errors import FormatError

_ENDINGS = (".json", ".json.gz")
_GZIP = b"\x1f\x8b"
_HINT = "Give a .json or .json.gz trace of torch.profiler, a .zip of one, or a folder of ranks."


@dataclass(frozen=True)
class TraceFile:
    """The bytes of one trace, under its own name; `others` are the names beside it that were not read."""

    name: str
    data: bytes
    others: tuple[str, ...] = ()


def read_trace_file(path: Path, name: str = "") -> TraceFile:
    """Return the trace at a path; of several in a folder or a zip the one that contains `name`, or the first by name.

    Raises:
        FormatError: there is no such file, no trace in it, or it is damaged.
    """
    try:
        if path.is_dir():
            files = {str(file.relative_to(path)): file for file in sorted(path.rglob("*"))}
            return _chosen(path, name, {key: file.read_bytes for key, file in files.items()})
        if zipfile.is_zipfile(path):
            return _from_zip(path, name)
        return TraceFile(path.name, unpacked(path, path.read_bytes(), _HINT))
    except OSError as error:
        raise FormatError(f"{path}: {error.strerror or error}", _HINT) from error


def _from_zip(path: Path, name: str) -> TraceFile:
    try:
        with zipfile.ZipFile(path) as archive:
            members = {
                key: _reader(archive, key) for key in sorted(archive.namelist()) if key[-1:] != "/"
            }
            return _chosen(path, name, members)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError) as error:
        raise FormatError(f"{path}: a damaged or protected zip: {error}", _HINT) from error


def _reader(archive: zipfile.ZipFile, key: str) -> Callable[[], bytes]:
    return lambda: archive.read(key)


def _chosen(path: Path, name: str, found: dict[str, Callable[[], bytes]]) -> TraceFile:
    traces = [key for key in found if key.endswith(_ENDINGS)]
    fitting = [key for key in traces if name in key]
    if not fitting:
        what = f"no trace with {name!r} in its name" if name and traces else "no trace"
        shown = f"; there are {', '.join(traces[:5])}" if traces else ""
        raise FormatError(f"{path}: {what}{shown}", _HINT)
    others = tuple(key for key in traces if key != fitting[0])
    return TraceFile(fitting[0], unpacked(path / fitting[0], found[fitting[0]](), _HINT), others)


def unpacked(path: Path, data: bytes, hint: str) -> bytes:
    """Return the bytes of a file, unpacked where they are gzip's, whatever the file is called.

    Raises:
        FormatError: the gzip is damaged; with `hint` as what to do.
    """
    if not data.startswith(_GZIP):
        return data
    try:
        return gzip.decompress(data)
    except (EOFError, OSError, zlib.error) as error:
        raise FormatError(
            f"{path}: damaged or truncated gzip of {len(data):,} bytes: {error}", hint
        ) from error
