"""Log files. In: a path to a TORCH_TRACE log or a folder of them. Out: the bytes of one log, and what lies beside it."""

from dataclasses import dataclass
from pathlib import Path

from compdiff.errors import FormatError
from compdiff.importers.files import unpacked

HINT = "Give the folder that TORCH_TRACE named, or one log in it: dedicated_log_torch_trace_*.log."
_ENDINGS = (".log", ".log.gz")
_PREFIX = "dedicated_log_torch_trace_"


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
            return LogFile(path.name, unpacked(path, path.read_bytes(), HINT))
        found = [file for file in sorted(path.rglob("*")) if file.is_file() and _is_log(file)]
        if not found:
            raise FormatError(f"{path}: no TORCH_TRACE log in this folder", HINT)
        chosen = next((file for file in found if member and member in file.name), found[0])
        others = tuple(str(file.relative_to(path)) for file in found if file != chosen)
        return LogFile(
            str(chosen.relative_to(path)), unpacked(chosen, chosen.read_bytes(), HINT), others
        )
    except OSError as error:
        raise FormatError(f"{path}: {error.strerror or error}", HINT) from error


def _is_log(file: Path) -> bool:
    return file.name.endswith(_ENDINGS) or file.name.startswith(_PREFIX)
