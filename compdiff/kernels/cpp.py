"""Names of C++ functions as a demangler prints them. In: the name. Out: its qualified path and its template arguments.

One pass over the text with an explicit stack: linear in time, no recursion, and any text has an answer.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_MARK = re.compile(r"[<>(){}\[\], ]|::")
_OPENS = {"(": ")", "{": "}", "[": "]"}
_ANONYMOUS = "(anonymous namespace)"
_NAMELESS = ("{", "operator", "'lambda")
# Namespaces that only carry a version or a build: cub::CUB_300001_SM_900, rocprim::ROCPRIM_400200_NS.
_VERSION = re.compile(r"(?:CUB|THRUST|ROCPRIM|HIPCUB|ROCTHRUST)_\d+\w*|CCCL_\w+|__\d+|V\d+|_V\d+")
_CLONE = re.compile(r"(?: \[clone [^\]]*\]|\.kd|\.cold(?:\.\d+)?|\.intern\.\w+)$")
# How far back from the end of a name a clone suffix can stand.
_SUFFIX = 64


@dataclass(frozen=True, slots=True)
class CppName:
    """A function or type: `path` without arguments, `arguments` of its last part that has any, `text` as it was given."""

    text: str
    path: str
    arguments: tuple[str, ...]

    @property
    def name(self) -> str:
        """Return the last part of the path."""
        return self.path.rpartition("::")[2]


def pieces(text: str, separator: str) -> Iterator[str]:
    """Yield the parts of a text between separators (`,`, `::` or a space) that stand in no bracket."""
    start = 0
    for position, depth in _marks(text, separator):
        if depth == 0:
            yield text[start:position]
            start = position + len(separator)
    yield text[start:]


def _marks(text: str, wanted: str) -> Iterator[tuple[int, int]]:
    """Yield place and depth of each wanted mark; a `<` after anything but a name compares, so it opens nothing."""
    brackets = _Brackets()
    for match in _MARK.finditer(text):
        if text.startswith("->", match.start() - 1) and match.group() == ">":
            continue
        if match.group() == wanted:
            yield match.start(), len(brackets.stack)
        brackets.see(match.group(), text, match.start())


@dataclass
class _Brackets:
    """The brackets that are open at a place, by what closes them, with a count of each kind."""

    stack: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(")}]>", 0))

    def see(self, mark: str, text: str, at: int) -> None:
        """Take in the mark at a place of the text."""
        if mark in _OPENS:
            self._open(_OPENS[mark])
        elif mark == "<" and at:
            before = text[at - 1]
            if before.isalnum() or before in "_}'" or text.endswith("operator()", 0, at):
                self._open(">")
        elif mark == ">" and self.stack[-1:] != [">"]:
            return
        elif self.counts.get(mark):
            self._close(mark)

    def _open(self, closing: str) -> None:
        self.stack.append(closing)
        self.counts[closing] += 1

    def _close(self, mark: str) -> None:
        """Close the innermost bracket of this kind, with every comparison in it that was taken for an opening one."""
        closed = ""
        while closed != mark:
            closed = self.stack.pop()
            self.counts[closed] -= 1


def split_arguments(text: str) -> tuple[str, ...]:
    """Return the template arguments of a text such as `f<int, g<a, b> >`, those of the first bracket at depth 0."""
    start = next((at for at, depth in _marks(text, "<") if depth == 0 and at), None)
    if start is None:
        return ()
    closing = next((at for at, depth in _marks(text[start - 1 :], ">") if depth == 1), None)
    inner = text[start + 1 :] if closing is None else text[start + 1 : start - 1 + closing]
    return tuple(piece.strip() for piece in pieces(inner, ","))


def without_parameters(text: str) -> str:
    """Return a declaration up to its parameter list: `void f<int>(int)` gives `void f<int>`."""
    for at, depth in _marks(text, "("):
        named = text.startswith(_ANONYMOUS, at) or text.endswith("operator", 0, at)
        if depth == 0 and at and not named:
            return text[:at]
    return text


def read_cpp(text: str) -> CppName:
    """Return the parts of a demangled function name, its return type and parameters left aside."""
    tail = text[-_SUFFIX:]
    name = text[: len(text) - len(tail)] + _CLONE.sub("", tail)
    declared = list(pieces(without_parameters(name).strip(), " "))
    return read_qualified(declared[-1], text)


def read_qualified(qualified: str, text: str = "") -> CppName:
    """Return the parts of a qualified name: `at::native::f<int>` has path `at::native::f` and the argument `int`."""
    path, arguments = [], ""
    for part in pieces(qualified, "::"):
        name = part.partition("<")[0].strip()
        if part.startswith(_NAMELESS):
            continue
        if name and name != _ANONYMOUS and not _VERSION.fullmatch(name):
            path.append(name)
        if "<" in part:
            arguments = part
    return CppName(text or qualified, "::".join(path), split_arguments(arguments))
