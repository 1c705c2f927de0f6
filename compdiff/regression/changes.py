"""What one structure has and another has not. In: two Stanzas of a case. Out: Changes as sentences, and the changed lines.

A lost rewrite is told together with what its op calls run as now; a changed op call or kernel that such a sentence names
is not told again.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from typing import Literal

from compdiff.regression.structure import SECTIONS, Line, Section, Stanza

ChangeOf = Literal["lost", "gained", "changed"]
# What one line of a section is called.
_SINGULAR = {
    "op calls": "op call",
    "kernels": "kernel",
    "rewrites": "rewrite",
    "graph breaks": "graph break",
    "recompiles": "recompile",
    "copies introduced": "copy",
}
_ITEMS = ("kernels", "op calls")
_MOST = 6


@dataclass(frozen=True)
class StructureChange:
    """Something that is lost, gained or changed: `what` it is, its name, the eager op calls it concerns, a sentence."""

    what: str
    change: ChangeOf
    name: str
    text: str
    op_calls: tuple[str, ...] = ()


def changes(before: Stanza, after: Stanza) -> tuple[StructureChange, ...]:
    """Return what changed, the rewrites first; nothing where both say the same."""
    difference = _Difference(before, after)
    return (
        *_conditions(before, after),
        *difference.rewrites(),
        *difference.items(),
        *difference.others(),
    )


def changed_lines(before: Stanza, after: Stanza) -> list[str]:
    """Return the lines of both stanzas that are not the same, as `diff -u` marks them, with the section they are in."""
    found: list[str] = []
    for name in SECTIONS:
        old, new = (_section_lines(stanza, name) for stanza in (before, after))
        lines = [line for line in unified_diff(old, new, lineterm="", n=0) if _is_content(line)]
        found += [f" {name}:", *lines] if lines else []
    return found


def same_structure(before: Stanza, after: Stanza) -> bool:
    """Return whether every section of both holds the same lines."""
    return all(dict(before.section(name)) == dict(after.section(name)) for name in SECTIONS)


def _is_content(line: str) -> bool:
    return not line.startswith(("---", "+++", "@@"))


def _section_lines(stanza: Stanza, name: str) -> list[str]:
    section = stanza.section(name)
    return [f"  {section[line]} {line}" for line in sorted(section)]


def _conditions(before: Stanza, after: Stanza) -> list[StructureChange]:
    """Return what was given to torch.compile otherwise; another torch alone is no change."""
    if before.options == after.options:
        return []
    shown = [", ".join(options) or "none" for options in (before.options, after.options)]
    text = f"options and parameters {shown[0]} -> {shown[1]}"
    return [StructureChange("options", "changed", "options", text)]


class _Difference:
    """What either stanza has more of than the other, and which of it a sentence has told already."""

    def __init__(self, before: Stanza, after: Stanza) -> None:
        self._lost = {name: _more(before.section(name), after.section(name)) for name in SECTIONS}
        self._gained = {name: _more(after.section(name), before.section(name)) for name in SECTIONS}
        self._told: set[tuple[str, Line]] = set()

    def rewrites(self) -> list[StructureChange]:
        """Return the rewrites that are lost or gained, a rule that is on both sides as changed."""
        return [
            *(self._rewrite("lost", line) for line in self._lost["rewrites"]),
            *(self._rewrite("gained", line) for line in self._gained["rewrites"]),
        ]

    def _rewrite(self, change: ChangeOf, line: Line) -> StructureChange:
        now = self._consequences(line) if change == "lost" else self._instead(line)
        text = f"{line.name} {change} (of {_listed(line.op_calls)}){now}"
        return StructureChange("rewrite", change, line.name, text, line.op_calls)

    def _consequences(self, line: Line) -> str:
        """Return what does the work of a lost rewrite's op calls now: `; aten::add.Tensor is now its own kernel ...`."""
        names = _plain(line.op_calls)
        clauses = []
        covered: set[str] = set()
        for section in _ITEMS:
            for item in self._gained[section]:
                work = _plain(item.op_calls)
                if work and work <= names and not work <= covered:
                    covered |= work
                    self._told.add((section, item))
                    clauses.append(_now(section, item))
        if clauses:
            self._told |= {
                (section, old)
                for section in _ITEMS
                for old in self._lost[section]
                if _plain(old.op_calls) <= names
            }
        return f"; {'; '.join(clauses)}" if clauses else ""

    def _instead(self, line: Line) -> str:
        """Return which rewrites of the same op calls are gone."""
        names = _plain(line.op_calls)
        gone = [old.name for old in self._lost["rewrites"] if _plain(old.op_calls) & names]
        return f", in place of {_listed(gone)}" if gone else ""

    def items(self) -> list[StructureChange]:
        """Return the op calls and kernels that are lost or gained."""
        return [
            self._plain_change(section, change, line, count)
            for section in _ITEMS
            for change, line, count in self._both(section)
            if (section, line) not in self._told
        ]

    def others(self) -> list[StructureChange]:
        """Return the graph breaks, recompiles and copies that are lost or gained."""
        return [
            self._plain_change(section, change, line, count)
            for section in ("graph breaks", "recompiles", "copies introduced")
            for change, line, count in self._both(section)
        ]

    def _both(self, section: str) -> Iterable[tuple[ChangeOf, Line, int]]:
        for line, count in self._lost[section].items():
            yield "lost", line, count
        for line, count in self._gained[section].items():
            yield "gained", line, count

    def _plain_change(
        self, section: str, change: ChangeOf, line: Line, count: int
    ) -> StructureChange:
        what = _SINGULAR[section]
        times = f" x{count}" if count > 1 else ""
        ops = f" (of {_listed(line.op_calls)})" if line.op_calls else ""
        text = f"{what} {change}: {line.name}{times}{ops}"
        return StructureChange(what, change, line.name, text, line.op_calls)


def _more(ours: Section, theirs: Section) -> Counter[Line]:
    """Return what ours has more than theirs, in the order of the lock."""
    rest = Counter(ours) - Counter(theirs)
    return Counter({line: rest[line] for line in sorted(rest)})


def _plain(op_calls: Sequence[str]) -> set[str]:
    """Return the names alone, without how often each occurs."""
    return {name.partition(" x")[0] for name in op_calls}


def _now(section: str, item: Line) -> str:
    work = _listed(item.op_calls)
    alone = len(item.op_calls) == 1
    if section == "kernels":
        return (
            f"{work} is now its own kernel {item.name}" if alone else f"{item.name} now does {work}"
        )
    if item.op_calls == (item.name,):
        return f"{work} now runs by itself"
    return f"{work} now runs as {item.name}" if alone else f"{item.name} now does {work}"


def _listed(names: Sequence[str]) -> str:
    shown = list(names[:_MOST])
    if len(names) > _MOST:
        shown.append(f"{len(names) - _MOST} more")
    return " and ".join(part for part in (", ".join(shown[:-1]), *shown[-1:]) if part)
