"""What holds for archives of each kind: in a folder, in PostgreSQL with S3, in PostgreSQL with a folder."""

from contextlib import closing
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest

from compdiff.archive import Archive, Commit, Filter
from compdiff.archive.exchange import export_runs, import_runs
from compdiff.archive.prune import Policy, prune
from compdiff.archive.verify import verify
from compdiff.errors import CompdiffError
from tests.archive.runs import fill, golden, measured_again, of_case


def test_runs_come_back_from_another_process(archive: Archive, place: str) -> None:
    """What is added is there for whoever opens the archive next."""
    run = golden("training_step")
    run_id = archive.add(run)

    with closing(Archive.open(place)) as other:
        assert other.load(run_id) == run
        assert verify(other).is_sound


def test_filters_hold_in_a_database(archive: Archive) -> None:
    """SQL means the same in each kind."""
    fill(archive)

    found = archive.find(Filter(case="one", torch=">=2.12", branch="main", commit="aa", tag="good"))
    assert [entry.torch for entry in found] == ["2.14.1+cu130"]
    (pinned,) = archive.find(Filter(pinned=True))
    assert pinned.pin is not None
    assert pinned.pin.why == "because"


def test_prune_removes_what_nothing_spares(archive: Archive) -> None:
    """Pinned runs and the newest stay; blobs go with the last run that needs them."""
    ids = [archive.add(measured_again(golden(), turn)) for turn in range(5)]
    other = archive.add(of_case(measured_again(golden("training_step"), 0), "other"))
    archive.pin(ids[1])
    archive.tag(ids[0], "old")

    found = prune(archive, Policy(keep=1))

    assert [entry.id for entry in found.runs] == [ids[3], ids[2], ids[0]]
    assert {entry.id for entry in archive.find()} == {ids[1], ids[4], other}
    assert found.blobs == 0  # their records were in their rows, and the rest is needed
    verdict = verify(archive)
    assert (verdict.damage, verdict.leftovers) == ((), 0)


def test_age_and_number_spare_both(archive: Archive) -> None:
    """A run goes only if it is old and not among the newest."""
    for turn in range(3):
        archive.add(measured_again(golden(), turn))

    assert prune(archive, Policy(keep=2, older_than=timedelta(days=20_000))).runs == ()
    assert prune(archive, Policy()).runs == ()
    assert len(prune(archive, Policy(older_than=timedelta(hours=1))).runs) == 3
    assert list(archive.blobs.files()) == []


def test_what_a_killed_writer_left(archive: Archive) -> None:
    """Blobs of no run stay for an hour, for they may be those of a writer at work, and are no damage."""
    archive.add(golden())
    archive.blobs.put("f" * 64, b"x")

    assert prune(archive, Policy()).blobs == 0
    verdict = verify(archive)
    assert (verdict.is_sound, verdict.leftovers) == (True, 1)
    assert prune(archive, Policy(grace_s=-60)).blobs == 1
    assert verify(archive).leftovers == 0


def test_runs_move_as_one_file(archive: Archive, tmp_path: Path) -> None:
    """Runs, tags, pins, time and commit are the same in the archive that a file is imported to."""
    ids = [
        archive.add(measured_again(golden(), turn), commit=Commit(id="ab" * 20, branch="main"))
        for turn in range(3)
    ]
    archive.tag(ids[0], "first")
    archive.pin(ids[1], by="me", why="good")
    export_runs(archive, archive.find(), tmp_path / "runs.zip")

    with closing(Archive.create(str(tmp_path / "other"))) as other:
        assert set(import_runs(other, tmp_path / "runs.zip")) == set(ids)
        for mine, theirs in zip(archive.find(), other.find(), strict=True):
            assert msgspec.structs.replace(theirs, added=mine.added) == mine
        assert verify(other).is_sound


def test_a_tag_can_be_taken_away(archive: Archive) -> None:
    """Tags and pins come and go; a tag that is not there is an error."""
    run_id = archive.add(golden())
    archive.tag(run_id, "a")
    archive.tag(run_id, "a")
    archive.untag(run_id, "a")
    archive.pin(run_id)
    archive.unpin(run_id)

    (entry,) = archive.find()
    assert (entry.tags, entry.pin) == ((), None)
    with pytest.raises(CompdiffError, match="no tag"):
        archive.untag(run_id, "a")


def test_a_run_that_is_damaged_is_repaired_by_adding(archive: Archive) -> None:
    """Where a blob is gone verify names the run, and adding the run again puts it back."""
    run_id = archive.add(golden())
    name = min(file.name for file in archive.blobs.files())
    archive.blobs.remove(name)

    (damage,) = verify(archive).damage
    assert (damage.what, damage.name) == ("run", run_id[:12])
    assert name in damage.text
    archive.add(golden())
    assert verify(archive).is_sound


def test_strings_that_no_database_takes(archive: Archive) -> None:
    """Character 0 and quotes are no more than text."""
    run = of_case(golden(), "a\0b'; DROP TABLE runs; --")

    assert archive.load(archive.add(run)) == run
    assert [entry.case for entry in archive.find()] == [
        "a\N{REPLACEMENT CHARACTER}b'; DROP TABLE runs; --"
    ]
    assert verify(archive).is_sound
