"""A baseline in an archive. In: the archive's location, cases. Out: the runs to compare with; accepted runs, pinned."""

from collections.abc import Mapping, Sequence
from contextlib import closing

from compdiff.archive import Archive, Entry, Filter
from compdiff.model import Run
from compdiff.regression.config import Config
from compdiff.regression.runs import Key, by_key
from compdiff.regression.structure import place_of

PINNED = "pinned"


def from_archive(config: Config, keys: Sequence[Key]) -> Mapping[Key, Sequence[Run]]:
    """Return the run of each case that the baseline's reference means, `pinned` where none is named; the newest of several.

    A case that the archive has no such run of is left out: it is new, or was never pinned.

    Raises:
        CompdiffError: the archive cannot be read.
    """
    with closing(Archive.open(config.archive)) as archive:
        runs = [
            run
            for key in keys
            if (run := _run(archive, config.baseline or PINNED, key)) is not None
        ]
    return by_key(runs)


def accept(location: str, runs: Sequence[Run], *, by: str, why: str) -> None:
    """Add runs and pin them in place of those of the same case and place that were pinned.

    Raises:
        CompdiffError: the archive cannot be written.
    """
    with closing(Archive.open(location)) as archive:
        for run in runs:
            before = archive.find(Filter(case=run.case.name, pinned=True))
            added = archive.add(run)
            archive.pin(added, by=by, why=why)
            for entry in before:
                if entry.id != added and place_of(archive.load(entry.id)) == place_of(run):
                    archive.unpin(entry.id)


def _run(archive: Archive, reference: str, key: Key) -> Run | None:
    case, where = key
    for entry in _entries(archive, reference, case):
        run = archive.load(entry.id)
        if place_of(run) == where and run.failure is None:
            return run
    return None


def _entries(archive: Archive, reference: str, case: str) -> Sequence[Entry]:
    if reference == PINNED:
        return archive.find(Filter(case=case, pinned=True))
    if reference == "latest":
        return archive.find(Filter(case=case))
    tagged = archive.find(Filter(case=case, tag=reference))
    return tagged or [archive.resolve(f"{reference}:{case}")]
