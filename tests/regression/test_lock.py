"""compdiff.lock: what is written is read back; what does not fit is refused with its line."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compdiff.errors import FormatError
from compdiff.regression.changes import changed_lines, changes, same_structure
from compdiff.regression.lock import merged, parse, read_lock, text_of, write_lock
from compdiff.regression.structure import SECTIONS, Line, Stanza, stanza_of
from compdiff.store import read_run
from tests.variants import GOLDEN, golden

_RUNS = sorted(GOLDEN.parent.glob("*/*.run.json.gz"))
_WORDS = st.from_regex(r"[a-z][a-z_:]{0,8}[a-z]", fullmatch=True)
_LINES = st.builds(Line, name=_WORDS, op_calls=st.lists(_WORDS, max_size=3).map(tuple))
_SECTIONS = st.fixed_dictionaries(
    {
        name: st.dictionaries(
            _LINES
            if name in {"op calls", "kernels", "rewrites", "copies introduced"}
            else st.builds(Line, name=_WORDS),
            st.integers(1, 99),
            max_size=3,
        )
        for name in SECTIONS
    }
)
_STANZAS = st.builds(
    Stanza,
    case=_WORDS,
    where=_WORDS,
    torch=_WORDS,
    options=st.lists(_WORDS, max_size=2).map(tuple),
    accepted=_WORDS,
    sections=_SECTIONS,
)


@pytest.mark.parametrize("path", _RUNS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_golden_run_is_read_back(path: Path) -> None:
    """The stanza of a run, written and read, has the same sections: nothing changed between them."""
    stanza = stanza_of(read_run(path))
    again = parse(text_of([stanza]), name="lock")[stanza.key]
    assert changes(stanza, again) == ()
    assert changed_lines(stanza, again) == []
    assert same_structure(stanza, again)
    assert (again.torch, again.options) == (stanza.torch, stanza.options)


@given(st.lists(_STANZAS, max_size=3, unique_by=lambda stanza: stanza.key))
def test_any_stanzas_are_read_back(stanzas: list[Stanza]) -> None:
    """What `text_of` writes, `parse` reads as it was."""
    assert parse(text_of(stanzas), name="lock") == {stanza.key: stanza for stanza in stanzas}


def test_no_run_leaves_a_path_or_a_number_that_changes() -> None:
    """No line of any golden run holds a folder, an address or a kernel's running number."""
    text = text_of(stanza_of(read_run(path)) for path in _RUNS)
    lines = [line for line in text.splitlines() if not line.startswith(("#", "["))]
    assert not [line for line in lines if "/" in line or "0x" in line]
    kernels = [line for line in lines if "_fused_" in line]
    assert kernels
    assert not [
        line
        for line in kernels
        if line.partition(":")[0].removesuffix(" [backward]")[-1].isdecimal()
    ]


def test_the_lock_does_not_depend_on_the_order() -> None:
    """The same stanzas in any order give the same file."""
    stanzas = [stanza_of(golden(name)) for name in ("linear", "softmax", "cse")]
    assert text_of(stanzas) == text_of(stanzas[::-1])


def test_an_unchanged_stanza_keeps_who_accepted_it() -> None:
    """Writing the lock anew drops the note only where the structure changed."""
    old = Stanza(case="a", where="cpu", accepted="on purpose (me)")
    same, other = Stanza(case="a", where="cpu"), Stanza(case="a", where="cpu", torch="9")
    assert merged({old.key: old}, [same])[0].accepted == "on purpose (me)"
    assert not merged({old.key: old}, [other])[0].accepted


def test_stanzas_of_other_targets_stay(tmp_path: Path) -> None:
    """A lock holds the same case for several places."""
    path = tmp_path / "compdiff.lock"
    write_lock(path, [Stanza(case="a", where="cpu")])
    write_lock(path, merged(read_lock(path), [Stanza(case="a", where="h200")]))
    assert set(read_lock(path)) == {("a", "cpu"), ("a", "h200")}


def test_no_file_is_an_empty_lock(tmp_path: Path) -> None:
    """A project without a lock has no stanzas."""
    assert read_lock(tmp_path / "compdiff.lock") == {}


GOOD = text_of([Stanza(case="a", where="cpu", sections={"kernels": Counter([Line("k")])})])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is no lock file"),
        ("hello\n", "is no lock file"),
        ("# compdiff.lock/9\n", "is not compdiff.lock/1"),
        ("<<<<<<< HEAD\n" + GOOD, "unresolved merge"),
        (GOOD + "<<<<<<< HEAD\n", "does not belong there"),
        (GOOD.replace("kernels: 1", "colonels: 1"), "'colonels: 1' does not belong there"),
        (GOOD.replace("  1 k", "  -1 k"), "does not belong there"),
        (GOOD + "\n[a on cpu]\n", "a second time"),
        (GOOD.replace("[a on cpu]", ""), "does not belong there"),
    ],
)
def test_what_is_no_lock_is_refused(text: str, message: str) -> None:
    """A file that was damaged, merged badly or is of another version is refused, with the line."""
    with pytest.raises(FormatError, match=message):
        parse(text, name="compdiff.lock")
