"""Log files. In: a path to a TORCH_TRACE log or a folder of them. Out: the bytes of one log, and what lies beside it."""

import gzip
import zlib
from dataclasses import dataclass
from pathlib import Path

from compdiff.errors import FormatError

HINT = "Give the folder that TORCH_TRACE named, or one log in it: dedicated_log_torch_trace_*.log."
_ENDINGS = (".log", ".log.gz")
_PREFIX = "dedicated_log_torch_trace_"
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class LogFile:
    """The bytes of one log; `others` are the names of the logs beside it that were not read."""

    name: str
    data: bytes
    others: tuple[str, ...] = ()


def read_log_file(path: Path, member: str = "") -> LogFile:
    """Return the log at a path; of several in a folder the one with `member` in its name, else the first by name.

    Raises:
        FormatError: there is no such file, no log in the folder, or it is damaged gzip.
    """
    try:
        if not path.is_dir():
            return LogFile(path.name, _unpacked(path))
        found = [file for file in sorted(path.rglob("*")) if file.is_file() and _is_log(file)]
        if not found:
            raise FormatError(f"{path}: no TORCH_TRACE log in this folder", HINT)
        chosen = next((file for file in found if member and member in file.name), found[0])
        others = tuple(str(file.relative_to(path)) for file in found if file != chosen)
        return LogFile(str(chosen.relative_to(path)), _unpacked(chosen), others)
    except OSError as error:
        raise FormatError(f"{path}: {error.strerror or error}", HINT) from error


def _is_log(file: Path) -> bool:
    return file.name.endswith(_ENDINGS) or file.name.startswith(_PREFIX)


def _unpacked(path: Path) -> bytes:
    data = path.read_bytes()
    if not data.startswith(_GZIP):
        return data
    try:
        return gzip.decompress(data)
    except (EOFError, OSError, zlib.error) as error:
        raise FormatError(
            f"{path}: damaged or truncated gzip of {len(data):,} bytes: {error}", HINT
        ) from error
