"""What a reference means, and what it says when nobody can tell."""

from collections.abc import Sequence

import pytest

from compdiff.archive import Commit, Entry, Filter, Pin, RunId
from compdiff.archive.entry import SideNumbers
from compdiff.archive.references import check_tag, resolve
from compdiff.errors import CompdiffError

_SIDE = SideNumbers(op_calls=0, launches=0, kernels=0)


def entry(
    run: str, case: str, commit: str = "", *, tags: tuple[str, ...] = (), pin: bool = False
) -> Entry:
    """Return an entry."""
    return Entry(
        id=RunId(run.ljust(32, "0")),
        case=case,
        created="",
        added="",
        left=_SIDE,
        right=_SIDE,
        commit=Commit(id=commit.ljust(40, "0") if commit else ""),
        tags=tags,
        pin=Pin() if pin else None,
    )


# Newest first, as an archive finds them.
ENTRIES = (
    entry("aaaa1", "one", "cccc", pin=True),
    entry("aaaa2", "two", "cccc", tags=("good", "both")),
    entry("bbbb1", "one", "dddd", tags=("both",)),
    entry("bbbb2", "one", "dddd", pin=True),
    entry("eeee1", "two", "bbbb1"),
    entry("eeee2", "one", "ffff1"),
    entry("eeee3", "one", "ffff2"),
)


def find(wanted: Filter) -> Sequence[Entry]:
    """Return the entries that fit, as far as references ask."""
    found = [
        item
        for item in ENTRIES
        if wanted.case in ("", item.case)
        and item.id.startswith(wanted.id)
        and item.commit.id.startswith(wanted.commit)
        and (not wanted.tag or wanted.tag in item.tags)
        and (wanted.pinned is None or wanted.pinned == item.pinned)
    ]
    return found[: wanted.limit]


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("latest", "aaaa1"),
        ("latest:two", "aaaa2"),
        ("pinned", "aaaa1"),
        ("good", "aaaa2"),
        ("both:one", "bbbb1"),
        ("bbbb2", "bbbb2"),
        ("dddd", "bbbb1"),
        ("cccc:two", "aaaa2"),
        ("ffff1", "eeee2"),
    ],
)
def test_a_reference_means_one_run(reference: str, expected: str) -> None:
    """Words, tags, ids and commits, with a case and without."""
    assert resolve(find, reference).id.startswith(expected)


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("aaaa", "is the start of 2 ids"),
        ("bbbb1", "can be run bbbb10000000, commit bbbb10000000"),
        ("ffff", "can be commit ffff1"),
        ("cccc", "runs of 2 cases: one, two"),
        ("both", "runs of 2 cases"),
        ("aaa", "no run in the archive"),
        ("nothing", "no run in the archive"),
        ("latest:none", "no run in the archive"),
        ("pinned:two", "no run in the archive"),
        ("", "no run in the archive"),
    ],
)
def test_what_nobody_can_tell_is_refused(reference: str, said: str) -> None:
    """Each error says what the reference could be, and how to be clearer."""
    with pytest.raises(CompdiffError, match=said) as caught:
        resolve(find, reference)
    assert caught.value.hint


@pytest.mark.parametrize("name", ["latest", "pinned", "", "a:b", "-x", "a b", "\x1b[2J", "x" * 101])
def test_names_that_can_be_no_tag(name: str) -> None:
    """A tag never means something else, and is plain text."""
    with pytest.raises(CompdiffError, match="can be no tag"):
        check_tag(name)
