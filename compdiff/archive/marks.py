"""Tags and pins. In: an index, the id of a run. Out: the run marked, or a mark taken away."""

from datetime import datetime, timezone

from compdiff.archive.entry import Pin, RunId
from compdiff.archive.index import Change, Index
from compdiff.archive.references import check_tag
from compdiff.archive.texts import plain, utc
from compdiff.errors import CompdiffError


def tag(index: Index, run_id: RunId, name: str) -> None:
    """Give a run a tag; nothing happens where it has it.

    Raises:
        CompdiffError: the name can be no tag, or the run is not there.
    """
    check_tag(name)
    with index.change() as change:
        _check(change, run_id)
        change(
            "INSERT INTO tags (name, run) VALUES (:name, :run) ON CONFLICT (name, run) DO NOTHING",
            {"name": name, "run": run_id},
        )


def untag(index: Index, run_id: RunId, name: str) -> None:
    """Take a tag from a run.

    Raises:
        CompdiffError: it does not have it.
    """
    with index.change() as change:
        found = {"name": name, "run": run_id}
        if not change("SELECT 1 FROM tags WHERE name = :name AND run = :run", found):
            raise CompdiffError(f"run {run_id[:12]} has no tag {name!r}")
        change("DELETE FROM tags WHERE name = :name AND run = :run", found)


def pin(index: Index, run_id: RunId, pinned: Pin) -> None:
    """Pin a run: `prune` keeps it. A run that is pinned is pinned anew; a pin without a time is of now.

    Raises:
        CompdiffError: the run is not there.
    """
    values = {
        "by": plain(pinned.by),
        "why": plain(pinned.why),
        "at": plain(pinned.at) or utc(datetime.now(timezone.utc)),
        "run": run_id,
    }
    with index.change() as change:
        _check(change, run_id)
        change(
            "UPDATE runs SET pinned = 1, pinned_by = :by, pinned_why = :why, pinned_at = :at WHERE id = :run",
            values,
        )


def unpin(index: Index, run_id: RunId) -> None:
    """Take the pin from a run; nothing happens where there is none.

    Raises:
        CompdiffError: the run is not there.
    """
    with index.change() as change:
        _check(change, run_id)
        change(
            "UPDATE runs SET pinned = 0, pinned_by = '', pinned_why = '', pinned_at = '' WHERE id = :run",
            {"run": run_id},
        )


def _check(change: Change, run_id: RunId) -> None:
    if not change("SELECT 1 FROM runs WHERE id = :run", {"run": run_id}):
        raise CompdiffError(f"no run {run_id} in the archive")
