"""Source places. In: Python frames or formatted stack traces. Out: SourceLocation with columns."""

import itertools
import linecache
import os
import re
import sys
import sysconfig
from pathlib import Path
from types import CodeType, FrameType

import msgspec

from compdiff.model import SourceLocation

_PACKAGE = str(Path(__file__).resolve().parent)
_CASES = str(Path(_PACKAGE) / "cases")
_STDLIB = sysconfig.get_path("stdlib")
# What was typed at a prompt has such a name: in Python before 3.13, since then, and in IPython.
_TYPED = ("<stdin>", "<python-input-", "<ipython-input-")
_FRAME_LINE = re.compile(r'^\s*File "(?P<file>.+)", line (?P<line>\d{1,9}), in (?P<function>.+)$')
_CARETS = re.compile(r"^\s*[~^]*\^[~^]*\s*$")


def is_generated(file: str) -> bool:
    """Return whether Inductor wrote `file`: it lies in torch's default cache or in the one of this process."""
    folder = os.environ.get("TORCHINDUCTOR_CACHE_DIR")
    return "/torchinductor_" in file or bool(folder and file.startswith(f"{folder}/"))


def is_user_file(file: str) -> bool:
    """Return whether `file` is the user's: not torch, not compdiff itself, not the standard library, not generated."""
    if file.startswith(_PACKAGE) and not file.startswith(_CASES):
        return False
    if file.startswith("<"):
        return file.startswith(_TYPED)
    if "/site-packages/torch/" in file or is_generated(file):
        return False
    return not (file.startswith(_STDLIB) and "site-packages" not in file)


def user_location(frame: FrameType | None) -> SourceLocation | None:
    """Return the innermost user frame's place at or above `frame`, with columns, or None when there is none.

    What generated code calls has no such place: the user's frame above it called all of the compiled graph.
    """
    while frame is not None and not is_user_file(frame.f_code.co_filename):
        frame = None if is_generated(frame.f_code.co_filename) else frame.f_back
    return None if frame is None else shown(location_of(frame))


def shown(place: SourceLocation) -> SourceLocation:
    """Return the place with its file as one would type it from the working directory."""
    return msgspec.structs.replace(place, file=shown_path(place.file))


def shown_path(file: str) -> str:
    """Return `file` relative to the working directory when it lies below it, so that reports do not depend on it."""
    here = f"{Path.cwd()}/"
    return file.removeprefix(here)


def location_of(frame: FrameType) -> SourceLocation:
    """Return where `frame` stands; columns come from the code's position table (Python 3.11 and newer)."""
    code = frame.f_code
    line, column, end_line, end_column = _positions(code, frame.f_lasti)
    line = line if line is not None else frame.f_lineno
    one_line = end_line == line and column is not None and end_column is not None
    return SourceLocation(
        file=code.co_filename,
        line=line,
        column=column if one_line and column is not None else -1,
        end_column=end_column if one_line and end_column is not None else -1,
        function=code.co_name,
        text=linecache.getline(code.co_filename, line).rstrip("\n"),
    )


def parse_stack(trace: str, *, read_files: bool = True) -> tuple[SourceLocation, ...]:
    """Return the frames of a formatted traceback, outermost first; a caret line gives the columns.

    The columns that a formatted trace shows count from its own indentation, so they are moved to the file's. A trace from
    elsewhere names files that are not those of this machine: they are not read, and no columns are known.
    """
    lines = trace.splitlines()
    found = []
    for index, line in enumerate(lines):
        match = _FRAME_LINE.match(line)
        if match is None:
            continue
        following = lines[index + 1 : index + 3]
        found.append(
            _formatted_frame(match, following) if read_files else _foreign_frame(match, following)
        )
    return tuple(found)


def innermost_user(trace: str) -> SourceLocation | None:
    """Return the innermost user frame of a formatted traceback, else its innermost frame, else None."""
    frames = parse_stack(trace)
    users = [frame for frame in frames if is_user_file(frame.file)]
    chosen = users or list(frames)
    return shown(chosen[-1]) if chosen else None


def _positions(code: CodeType, lasti: int) -> tuple[int | None, int | None, int | None, int | None]:
    if sys.version_info < (3, 11) or lasti < 0:
        return None, None, None, None
    line, end_line, column, end_column = next(
        itertools.islice(code.co_positions(), lasti // 2, None), (None, None, None, None)
    )
    return line, _characters(code, line, column), end_line, _characters(code, end_line, end_column)


def _characters(code: CodeType, line: int | None, byte_column: int | None) -> int | None:
    """Turn the position table's UTF-8 byte offset into a character column."""
    if line is None or byte_column is None:
        return None
    text = linecache.getline(code.co_filename, line)
    return len(text.encode()[:byte_column].decode(errors="ignore")) if text else byte_column


def _formatted_frame(match: re.Match[str], following: list[str]) -> SourceLocation:
    file, line = match["file"], int(match["line"])
    shown = following[0] if following else ""
    text = linecache.getline(file, line).rstrip("\n") or shown.strip()
    column, end_column = -1, -1
    if len(following) > 1 and _CARETS.match(following[1]):
        shift = _indent(text) - _indent(shown)
        start = _indent(following[1])
        column, end_column = start + shift, len(following[1].rstrip()) + shift
    return SourceLocation(
        file=file,
        line=line,
        column=column,
        end_column=end_column,
        function=match["function"],
        text=text,
    )


def _foreign_frame(match: re.Match[str], following: list[str]) -> SourceLocation:
    return SourceLocation(
        file=match["file"],
        line=int(match["line"]),
        function=match["function"],
        text=following[0].strip() if following else "",
    )


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())
