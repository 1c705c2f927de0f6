"""compdiff.lock: the structure of each case as text to review. In: Stanzas, or the file. Out: the file, or Stanzas.

One stanza a case and place, everything sorted, one thing a line with how often it occurs, so that a lost fusion is a few
changed lines of a pull request. What `text_of` writes, `parse` reads back as it was.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from compdiff.errors import CompdiffError, FormatError
from compdiff.regression.structure import SECTIONS, Line, Section, Stanza
from compdiff.store import write_atomic

LOCK_FILE = "compdiff.lock"
LOCK_SCHEMA = "compdiff.lock/1"
_HEAD = f"""\
# {LOCK_SCHEMA}
# What torch.compile makes of each case, written by `compdiff lock`. `compdiff check` fails when it makes something else.
# To accept a change: compdiff check --update-baseline --why "..."
"""
_TITLE = re.compile(r"\[(?P<case>.+?) on (?P<where>.+)\]")
_COUNTED = re.compile(r"(?P<count>[1-9]\d*) (?P<name>.+)")
_NAME_AND_OPS = re.compile(r"(?P<name>.+?): (?P<op_calls>.+)")
# In other sections a colon is a part of the compiler's reason.
_WITH_OPS = frozenset({"op calls", "kernels", "rewrites", "copies introduced"})
_NO_OPS = "no eager op call ("
Lock = Mapping[tuple[str, str], Stanza]


def read_lock(path: Path) -> dict[tuple[str, str], Stanza]:
    """Return the stanzas of a lock file by case and place; none where there is no file.

    Raises:
        FormatError: naming the line that does not fit.
        CompdiffError: the file cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise CompdiffError(
            f"cannot read {path}: {error}", "Give a file of `compdiff lock`."
        ) from error
    return parse(text, name=str(path))


def write_lock(path: Path, stanzas: Iterable[Stanza]) -> None:
    """Write a lock file whole or not at all.

    Raises:
        CompdiffError: the file cannot be written.
    """
    write_atomic(path, text_of(stanzas).encode())


def merged(lock: Lock, stanzas: Iterable[Stanza]) -> list[Stanza]:
    """Return the stanzas of a lock with some replaced; one that says the same as before keeps who accepted it."""
    result = dict(lock)
    for stanza in stanzas:
        old = lock.get(stanza.key)
        same = old is not None and replace(old, accepted="") == replace(stanza, accepted="")
        result[stanza.key] = old if old is not None and same else stanza
    return list(result.values())


# ---------------------------------------------------------------- text


def text_of(stanzas: Iterable[Stanza]) -> str:
    """Return the content of the lock file that holds these stanzas."""
    ordered = sorted(stanzas, key=lambda stanza: stanza.key)
    return "\n".join([_HEAD, *("\n".join([*lines_of(stanza), ""]) for stanza in ordered)])


def lines_of(stanza: Stanza) -> list[str]:
    """Return the lines of one stanza, the title first; sections with their total, lines below them by name."""
    lines = [f"[{stanza.case} on {stanza.where}]", f"torch {stanza.torch or 'unknown'}"]
    lines += [f"set {option}" for option in stanza.options]
    lines += [f"accepted {stanza.accepted}"] if stanza.accepted else []
    for name in SECTIONS:
        section = stanza.section(name)
        lines.append(f"{name}: {sum(section.values())}")
        lines += [f"  {section[line]} {line}" for line in sorted(section)]
    return lines


def parse(text: str, *, name: str) -> dict[tuple[str, str], Stanza]:
    """Return the stanzas in a text; `name` is what to call it in an error.

    Raises:
        FormatError: naming the first line that does not fit.
    """
    reader = _Reader(name)
    lines = text.splitlines()
    if not lines or lines[0] != f"# {LOCK_SCHEMA}":
        raise _wrong_head(name, lines[0] if lines else "")
    for number, line in enumerate(lines, start=1):
        if line.strip() and not line.startswith("#"):
            reader.read(number, line)
    return reader.found()


def _wrong_head(name: str, line: str) -> FormatError:
    if line.startswith("# compdiff.lock/"):
        return FormatError(
            f"{name}: {line[2:60]!r} is not {LOCK_SCHEMA}",
            "Another compdiff wrote it: use that one.",
        )
    if line.startswith(("<<<<<<<", "=======", ">>>>>>>")):
        return FormatError(f"{name} has an unresolved merge", "Resolve it, or write it anew.")
    return FormatError(f"{name} is no lock file", "`compdiff lock` writes one.")


class _Reader:
    """Takes the lines of a lock file in order; knows the stanza and the section that it is in."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._stanzas: dict[tuple[str, str], Stanza] = {}
        self._sections: dict[tuple[str, str], dict[str, dict[Line, int]]] = {}
        self._at: tuple[str, str] | None = None
        self._section: dict[Line, int] = {}
        self._section_name = ""

    def found(self) -> dict[tuple[str, str], Stanza]:
        """Return what was read."""
        return {
            key: replace(stanza, sections=self._sections[key])
            for key, stanza in self._stanzas.items()
        }

    def read(self, number: int, line: str) -> None:
        """Take one line.

        Raises:
            FormatError: it does not fit where it stands.
        """
        title = _TITLE.fullmatch(line)
        if title is not None:
            self._start(number, title["case"], title["where"])
        elif self._at is None:
            raise self._wrong(number, line)
        elif line.startswith("  "):
            self._entry(number, line)
        else:
            self._setting(self._at, number, line)

    def _start(self, number: int, case: str, where: str) -> None:
        self._at = (case, where)
        if self._at in self._stanzas:
            raise self._wrong(number, f"[{case} on {where}] a second time")
        self._stanzas[self._at] = Stanza(case=case, where=where)
        self._sections[self._at] = {}
        self._section_name = ""

    def _setting(self, at: tuple[str, str], number: int, line: str) -> None:
        """Take a line of a stanza's own: the torch version, an option, who accepted it, the start of a section."""
        stanza = self._stanzas[at]
        word, _, rest = line.partition(" ")
        section, _, count = line.rpartition(": ")
        if section in SECTIONS and count.isdecimal():
            self._section_name = section
            self._section = self._sections[at].setdefault(section, {})
        elif word == "torch":
            self._stanzas[at] = replace(stanza, torch="" if rest == "unknown" else rest)
        elif word == "set":
            self._stanzas[at] = replace(stanza, options=(*stanza.options, rest))
        elif word == "accepted":
            self._stanzas[at] = replace(stanza, accepted=rest)
        else:
            raise self._wrong(number, line)

    def _entry(self, number: int, line: str) -> None:
        counted = _COUNTED.fullmatch(line[2:])
        if counted is None or not self._section_name:
            raise self._wrong(number, line)
        self._section[parse_line(self._section_name, counted["name"])] = int(counted["count"])

    def _wrong(self, number: int, line: str) -> FormatError:
        return FormatError(
            f"{self._name}, line {number}: {line[:80]!r} does not belong there",
            "It was edited or merged by hand: write it anew with `compdiff lock`.",
        )


def parse_line(section: str, text: str) -> Line:
    """Return a line of a section from its text without the count."""
    found = _NAME_AND_OPS.fullmatch(text) if section in _WITH_OPS else None
    if found is None:
        return Line(text)
    ops = found["op_calls"]
    return Line(found["name"], (ops,) if ops.startswith(_NO_OPS) else tuple(ops.split(", ")))


def section_total(section: Section) -> int:
    """Return how many things a section holds, repeated ones counted."""
    return sum(section.values())
