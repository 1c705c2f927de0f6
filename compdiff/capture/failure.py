"""Failures in the case's own terms. In: an exception raised in a child. Out: a Failure.

Frames of compdiff and torch between those of the case are counted, not shown: they hide the case's.
The innermost frame and the message always stay.
"""

import sysconfig
import traceback
from pathlib import Path

from compdiff.errors import CompdiffError
from compdiff.model import Failure

_PACKAGE = Path(__file__).resolve().parents[1]
_CASES = _PACKAGE / "cases"
_LIBRARIES = tuple(Path(sysconfig.get_path(name)) for name in ("purelib", "platlib"))
_HIDDEN_LIBRARIES = ("torch", "triton", "functorch")
_HIDDEN_MODULES = ("<frozen importlib", "<string>")


def failure_of(error: BaseException, stage: str) -> Failure:
    """Return what an exception means for the reader of the run."""
    return Failure(stage=stage, message=message_of(error), traceback=traceback_of(error))


def message_of(error: BaseException) -> str:
    """Return an exception's message, with its type unless compdiff raised it on purpose."""
    if isinstance(error, CompdiffError):
        return error.message
    if isinstance(error, SystemExit):
        return f"the case called sys.exit({error.code!r})"
    return "".join(traceback.format_exception_only(error)).strip()


def traceback_of(error: BaseException) -> str:
    """Return the traceback of an exception and its causes; empty for a CompdiffError without."""
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if isinstance(error, CompdiffError):
        return traceback_of(cause) if cause is not None else ""
    lines = ["Traceback (most recent call last):", *_frames(error), message_of(error)]
    text = "\n".join(line.rstrip("\n") for line in lines)
    if cause is None:
        return text
    join = "the direct cause of" if error.__cause__ else "in the handling of which came"
    return f"{traceback_of(cause)}\n\nThat was {join}:\n\n{text}"


def _frames(error: BaseException) -> list[str]:
    """Return formatted frames, outermost first; all of them where neither the case nor torch raised the error."""
    frames = list(traceback.extract_tb(error.__traceback__))
    hidden = [_is_hidden(frame.filename) for frame in frames]
    if all(hidden) and not type(error).__module__.startswith("torch"):
        return traceback.format_list(frames)
    hidden[-1:] = [False]
    lines: list[str] = []
    skipped = 0
    for frame, hide in zip(frames, hidden, strict=True):
        if hide:
            skipped += 1
            continue
        lines += [f"  ... {skipped} frames of compdiff and torch"] if skipped else []
        lines += traceback.format_list([frame])
        skipped = 0
    return lines


def _is_hidden(filename: str) -> bool:
    """Whether a frame is machinery: compdiff's (not its cases), torch's or the import system's."""
    if filename.startswith(_HIDDEN_MODULES):
        return True
    path = Path(filename)
    if path.is_relative_to(_PACKAGE):
        return not path.is_relative_to(_CASES)
    return any(
        path.is_relative_to(root / name) for root in _LIBRARIES for name in _HIDDEN_LIBRARIES
    )
