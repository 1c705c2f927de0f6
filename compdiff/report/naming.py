"""Texts of things. In: op calls, tensors, places from the model. Out: the short text that every output shows for them.

Nothing here escapes: a text is data until an output writes it in its own format.
"""

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from pathlib import PurePosixPath

from compdiff.align.items import item_name
from compdiff.model import Basis, GraphNode, OpCall, SourceLocation
from compdiff.tensor_text import tensor_text

_TENSOR_PLACE = re.compile(r"\bT\b")
_LIBRARY_ROOTS = ("site-packages/", "dist-packages/")


def op_name(call: OpCall) -> str:
    """Return an op call's name with its overload, unless that is the default one: `aten::add.Tensor`."""
    return item_name(call)


def arguments_text(call: OpCall) -> str:
    """Return the arguments with each tensor place (`T`) filled by its tensor, or the tensors alone."""
    tensors = [tensor_text(meta) for meta in call.inputs]
    if len(_TENSOR_PLACE.findall(call.arguments)) != len(tensors) or not tensors:
        return ", ".join(tensors) or call.arguments
    remaining = iter(tensors)
    return _TENSOR_PLACE.sub(lambda _: next(remaining), call.arguments)


def outputs_text(call: OpCall, basis: Basis) -> str:
    """Return the output tensors, `f32[2, 3], i64[2]`, or `nothing`; "" of an imported call, whose outputs no trace holds."""
    if basis == "imported":
        return ""
    return ", ".join(tensor_text(meta) for meta in call.outputs) or "nothing"


def counted_text(names: Iterable[str]) -> str:
    """Return names in first-seen order, repeated ones counted: `aten::copy_, aten::expand x3`."""
    found = list(names)
    if len(found) < 2:  # noqa: PLR2004 - as most are: nothing to count
        return "".join(found)
    counts = Counter(found)
    return ", ".join(name if count == 1 else f"{name} x{count}" for name, count in counts.items())


def nodes_text(nodes: Iterable[GraphNode]) -> str:
    """Return the names of graph nodes: `mm, add`."""
    return ", ".join(node.name for node in nodes)


def place_text(source: SourceLocation, case_file: str) -> str:
    """Return a source line's place, its path as short as it stays clear: `linear.py:12`."""
    return f"{short_path(source.file, case_file)}:{source.line}"


def short_place(place: str, case_file: str) -> str:
    """Return a place written as `file:line` with its path shortened."""
    path, colon, line = place.rpartition(":")
    return f"{short_path(path, case_file)}{colon}{line}"


@lru_cache(maxsize=1 << 10)
def short_path(path: str, case_file: str) -> str:
    """Return a path relative to the case's folder or to the library root that holds it, else the whole path.

    `case_file` may be relative to a working directory that nobody knows any more.
    """
    if path == case_file or path.endswith(f"/{case_file}"):
        return PurePosixPath(case_file).name
    folder = f"{PurePosixPath(case_file).parent}/"
    if folder.startswith("/") and path.startswith(folder):
        return path[len(folder) :]
    for root in _LIBRARY_ROOTS:
        if root in path:
            return path.rpartition(root)[2]
    return path


def printable(text: str) -> str:
    """Return text fit for one line of a terminal: control and other unprintable characters are spelled out."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )


def clipped(text: str, length: int) -> str:
    """Return at most `length` characters of a text, the cut marked with an ellipsis."""
    return text if len(text) <= length else text[: length - 1] + "…"
