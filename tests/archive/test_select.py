"""Filters: what SQL tells and what is told of rows."""

from contextlib import closing
from pathlib import Path

import pytest

from compdiff.archive import Archive, Filter
from compdiff.archive.rows import PLACES
from compdiff.archive.select import predicate, where
from compdiff.errors import CompdiffError
from tests.archive.runs import fill


@pytest.mark.parametrize(
    ("wanted", "count"),
    [
        (Filter(case="one"), 3),
        (Filter(torch=">=2.12"), 1),
        (Filter(torch=">=2.12.0a0"), 2),
        (Filter(torch="2.11"), 2),
        (Filter(torch="==2.14.1"), 1),
        (Filter(cuda="<14", host="here"), 2),
        (Filter(driver="580"), 0),
        (Filter(branch="main"), 2),
        (Filter(commit="AAAA"), 2),
        (Filter(commit="aaaa", dirty=True), 1),
        (Filter(dirty=False), 3),
        (Filter(device="cpu"), 4),
        (Filter(device="cuda"), 0),
        (Filter(device="epyc"), 4),
        (Filter(params=(("size", "64"),)), 4),
        (Filter(params=(("size", "65"),)), 0),
        (Filter(options=(("mode", '"max-autotune"'),)), 1),
        (Filter(tag="good"), 1),
        (Filter(pinned=True), 1),
        (Filter(pinned=False, limit=2), 2),
        (Filter(since="2026-01-01T00:00:02Z"), 2),
        (Filter(until="2026-01-01T00:00:02Z"), 2),
        (Filter(tag="'; DROP TABLE runs; --"), 0),
        (Filter(branch="%"), 0),
    ],
)
def test_each_filter(folder: Path, wanted: Filter, count: int) -> None:
    """Each part of a filter keeps what fits it, and nothing else."""
    with closing(Archive.open(str(folder))) as archive:
        fill(archive)

        assert len(archive.find(wanted)) == count


def test_an_empty_filter_asks_for_nothing() -> None:
    """No clause, no values, no predicate: all rows fit."""
    assert where(Filter()) == ("", {})
    assert predicate(Filter()) is None


def test_values_never_stand_in_the_clause() -> None:
    """What a user gives is bound, not written into SQL."""
    hostile = "x' OR 1=1; --"

    clause, values = where(Filter(case=hostile, host=hostile, branch=hostile, tag=hostile))

    assert "OR 1=1" not in clause
    assert set(values.values()) == {hostile}


def test_a_prefix_is_a_range_in_any_case() -> None:
    """`AB` asks for what starts with ab; the end of the range sorts after each digit that can follow."""
    _, values = where(Filter(commit="AB"))

    assert values == {"commit": "ab", "commit_end": "abg"}


@pytest.mark.parametrize("wanted", [Filter(id="xyz"), Filter(commit="12-4"), Filter(id="a%")])
def test_a_prefix_that_is_none(wanted: Filter) -> None:
    """Only hexadecimal digits start an id or a commit."""
    with pytest.raises(CompdiffError, match="hexadecimal"):
        where(wanted)


@pytest.mark.parametrize("text", [">=", "two", "~=x", "2.1.x", "==2.*.1"])
def test_a_version_that_is_none(text: str) -> None:
    """A specifier that says nothing is refused, with examples of what does."""
    with pytest.raises(CompdiffError, match="no version of torch") as caught:
        predicate(Filter(torch=text))
    assert ">=2.12" in caught.value.hint


@pytest.mark.parametrize(
    ("asked", "has", "fits"),
    [
        ("2.1", "2.1.2", True),
        ("2.1", "2.14.0", False),
        ("2.14", "2.14.1+cu130", True),
        (">=2.14", "2.14.0a0+git1", False),
        (">=2.14,<2.15", "2.14.1+cpu", True),
        ("!=2.14.1", "2.14.0", True),
        (">=2", "", False),
        (">=2", "unknown", False),
        (">=2", None, False),
    ],
)
def test_versions(asked: str, has: str | None, *, fits: bool) -> None:
    """Versions compare as pip compares them; what is no version fits nothing."""
    check = predicate(Filter(torch=asked))

    assert check is not None
    assert check(row(torch=has)) == fits


@pytest.mark.parametrize(
    ("asked", "fits"), [("h200", True), ("nvidia", True), ("h20", True), ("h100", False)]
)
def test_a_device_is_part_of_its_name(asked: str, *, fits: bool) -> None:
    """Any part of the name, in any case."""
    check = predicate(Filter(device=asked))

    assert check is not None
    assert check(row(device_name="NVIDIA H200")) == fits
    assert check(row(device_name="", target="h100")) == (asked == "h100")


def test_what_is_no_object_has_no_parameters() -> None:
    """A damaged row fits no filter on parameters, and breaks none."""
    check = predicate(Filter(params=(("size", "64"),)))

    assert check is not None
    assert [check(row(params=text)) for text in ('{"size":64}', "[64]", "{", None)] == [
        True,
        False,
        False,
        False,
    ]


def row(**columns: object) -> tuple[object, ...]:
    """Return a row of an index of which a few columns are set."""
    values: list[object] = [None] * len(PLACES)
    for name, value in columns.items():
        values[PLACES[name]] = value
    return tuple(values)
