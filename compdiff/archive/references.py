"""What a reference to a run means. In: `latest`, `pinned`, a tag, an id or a commit, with `:CASE` or not. Out: one entry.

In this order: the words `latest` and `pinned`, tags, then the start of an id or a commit, of at least four digits. Of
several runs of one case the newest is meant; several cases are refused, but for `latest`.
"""

import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

from compdiff.archive.entry import Entry, Filter
from compdiff.errors import CompdiffError

Find: TypeAlias = Callable[[Filter], Sequence[Entry]]

LATEST = "latest"
PINNED = "pinned"
WORDS = frozenset({LATEST, PINNED})
_SHORTEST = 4
_START = re.compile(r"[0-9a-fA-F]{4,64}")
_TAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+/-]{0,99}")
_MOST_NAMED = 8


def resolve(find: Find, reference: str) -> Entry:
    """Return the run that a reference means.

    Raises:
        CompdiffError: it means none, or cannot tell which of several.
    """
    name, _, case = reference.partition(":")
    if name == LATEST:
        found: Sequence[Entry] = find(Filter(case=case, limit=1))
    elif name == PINNED:
        found = find(Filter(case=case, pinned=True))
    else:
        found = _named(find, name, case)
    if not found:
        raise CompdiffError(f"no run in the archive is {reference!r}", _hint(find, case))
    return _one(found, reference, case)


def check_tag(name: str) -> str:
    """Return a name that a run can be tagged with.

    Raises:
        CompdiffError: it has odd characters, or means something else already.
    """
    if name in WORDS or not _TAG.fullmatch(name):
        raise CompdiffError(
            f"{name!r} can be no tag",
            "A tag is made of letters, digits and ._+/-, starts with a letter or digit, and is not `latest` or `pinned`.",
        )
    return name


def _named(find: Find, name: str, case: str) -> Sequence[Entry]:
    # An empty filter asks for nothing, and all runs would fit.
    if name and (tagged := find(Filter(case=case, tag=name))):
        return tagged
    if not _START.fullmatch(name):
        return ()
    by_id = find(Filter(case=case, id=name))
    if len(by_id) > 1:
        raise CompdiffError(
            f"{name!r} is the start of {len(by_id)} ids: {_listed([entry.id for entry in by_id])}",
            "Give more digits.",
        )
    by_commit = find(Filter(case=case, commit=name))
    commits = sorted({entry.commit.id for entry in by_commit})
    if len(commits) + len(by_id) > 1:
        kinds = [
            *(f"run {entry.id[:12]}" for entry in by_id),
            *(f"commit {c[:12]}" for c in commits),
        ]
        raise CompdiffError(f"{name!r} can be {_listed(kinds)}", "Give more digits.")
    return by_id or by_commit


def _one(found: Sequence[Entry], reference: str, case: str) -> Entry:
    cases = sorted({entry.case for entry in found})
    if len(cases) > 1 and not case:
        raise CompdiffError(
            f"{reference!r} is said of runs of {len(cases)} cases: {_listed(cases)}",
            f"Say which: {reference}:{cases[0]}.",
        )
    return found[0]


def _hint(find: Find, case: str) -> str:
    if case and not find(Filter(case=case, limit=1)):
        return f"There is no run of a case {case!r}; `compdiff archive list` shows all."
    return (
        f"Give an id or commit ({_SHORTEST} digits or more), a tag, `latest` or `pinned`, with :CASE or not; "
        "`compdiff archive list` shows what there is."
    )


def _listed(names: list[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
