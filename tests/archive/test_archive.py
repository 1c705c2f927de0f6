"""The archive: what is added is there, whole."""

from datetime import datetime, timezone
from pathlib import Path

import msgspec
import pytest

from compdiff.archive import Archive, Commit, Filter
from compdiff.archive.verify import verify
from compdiff.errors import CompdiffError
from compdiff.store import encode_run
from tests.archive.runs import golden, in_environment, measured_again, of_case


@pytest.fixture(name="archive")
def _archive(tmp_path: Path) -> Archive:
    return Archive.create(str(tmp_path / "archive"))


def test_a_run_comes_back_as_it_was(archive: Archive) -> None:
    """What is loaded is the run that was added, byte for byte."""
    run = golden("training_step")

    loaded = archive.load(archive.add(run))

    assert loaded == run
    assert encode_run(loaded) == encode_run(run)


def test_adding_again_changes_nothing(archive: Archive) -> None:
    """The same run has the same id, and is there once."""
    first = archive.add(golden())

    assert archive.add(golden()) == first
    assert [entry.id for entry in archive.find()] == [first]


def test_newest_comes_first(archive: Archive) -> None:
    """Entries are in the order in which the runs were measured, whatever the order of adding."""
    ids = {turn: archive.add(measured_again(golden(), turn)) for turn in (2, 3, 1)}

    assert [entry.id for entry in archive.find()] == [ids[3], ids[2], ids[1]]


def test_an_unchanged_case_shares_its_blobs(archive: Archive) -> None:
    """The second run of an unchanged case adds no blob: its record is small, and in its row."""
    archive.add(measured_again(golden(), 1))
    before = {file.name for file in archive.blobs.files()}

    run_id = archive.add(in_environment(measured_again(golden(), 2), git_commit="ab" * 20))

    assert {file.name for file in archive.blobs.files()} == before
    assert archive.load(run_id).environment.git_commit == "ab" * 20


def test_a_large_record_is_a_blob(archive: Archive) -> None:
    """Thousands of samples would make the index slow to read: they are a blob of their own."""
    run = golden()
    assert run.timing is not None
    times = tuple(10**6 + turn * turn * 104_729 % 10**6 for turn in range(4000))
    samples = msgspec.structs.replace(run.timing.left, ns_per_call=times)
    timing = msgspec.structs.replace(run.timing, left=samples)
    archive.add(run)
    before = {file.name for file in archive.blobs.files()}

    large = msgspec.structs.replace(run, timing=timing)

    assert archive.load(archive.add(large)) == large
    assert len({file.name for file in archive.blobs.files()} - before) == 1
    assert verify(archive).damage == ()


def test_what_the_caller_knows_better(archive: Archive) -> None:
    """Time and commit that are given stand in the index in place of the run's own."""
    when = datetime(2025, 1, 2, 3, 4, 5, tzinfo=timezone.utc)

    archive.add(golden(), when=when, commit=Commit(id="abc123", branch="main", dirty=True))

    (entry,) = archive.find()
    assert entry.created == "2025-01-02T03:04:05Z"
    assert entry.commit == Commit(id="abc123", branch="main", dirty=True)


def test_an_entry_has_the_numbers_of_its_run(archive: Archive) -> None:
    """Counts, rules and the time with its interval can be had without loading the run."""
    run = in_environment(golden(), host="here", git_branch="main", git_commit="f" * 40)

    archive.add(run)

    (entry,) = archive.find()
    assert (entry.left.op_calls, entry.right.op_calls) == (2, 1)
    assert entry.rules == {"mm-add-to-addmm": 1}
    assert entry.left.time is not None
    assert entry.left.time.low_ns <= entry.left.time.median_ns <= entry.left.time.high_ns
    assert (entry.host, entry.commit.branch, entry.torch) == (
        "here",
        "main",
        run.environment.torch,
    )


def test_filters_and_limit(archive: Archive) -> None:
    """A filter keeps the runs that fit all of it, and the limit the newest of those."""
    for turn in (1, 2, 3):
        archive.add(of_case(measured_again(golden(), turn), "one"))
        archive.add(of_case(measured_again(golden(), turn), "two"))

    found = archive.find(Filter(case="two", limit=2))

    assert [entry.case for entry in found] == ["two", "two"]
    assert found[0].created > found[1].created


def test_an_archive_that_is_not_there(tmp_path: Path) -> None:
    """Opening makes nothing; the message says how to make one."""
    with pytest.raises(CompdiffError, match="no archive") as caught:
        Archive.open(str(tmp_path / "none"))

    assert "archive init" in caught.value.hint
    assert not (tmp_path / "none").exists()
