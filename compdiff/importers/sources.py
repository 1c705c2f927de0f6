"""Where an op was called in Python. In: an event of the host with its Python frames. Out: a SourceLocation, a module's name.

Frames are recorded `with_stack=True`: `model.py(12): forward`, and `nn.Module: Linear_0` around a module's own.
"""

import re
from functools import lru_cache

from compdiff.kineto import Event
from compdiff.model import SourceLocation

_FRAME = re.compile(r"(?P<file>.+)\((?P<line>\d+)\): (?P<function>.+)")
_MODULE = "nn.Module: "
_FOREIGN = (
    "torch/",
    "/torch/",
    "<built-in",
    "<frozen",
    "<string>",
    "contextlib.py",
    "threading.py",
    "runpy.py",
)


def source_of(event: Event) -> SourceLocation | None:
    """Return the innermost frame around an event that is not torch's or Python's own."""
    for outer in event.ancestors():
        place = _place_in(outer.name) if outer.category == "python_function" else None
        if place is not None:
            return place
    return None


@lru_cache(maxsize=4096)
def _place_in(frame: str) -> SourceLocation | None:
    """Return the place that a frame's name holds; None for one of torch or Python itself."""
    found = _FRAME.fullmatch(frame)
    if found is None or any(part in found["file"] for part in _FOREIGN):
        return None
    return SourceLocation(file=found["file"], line=int(found["line"]), function=found["function"])


def module_of(event: Event) -> str:
    """Return the innermost nn.Module around an event, as the profiler names it, or ""."""
    names = (outer.name for outer in event.ancestors() if outer.category == "python_function")
    return next((name.removeprefix(_MODULE) for name in names if name.startswith(_MODULE)), "")
