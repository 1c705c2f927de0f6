"""A baseline in an archive. In: the archive's location, cases. Out: the runs to compare with; accepted runs, pinned.

One run says little of how far apart runs of the same code lie, so all that are comparable with the one that is meant count.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing

from compdiff.archive import Archive, Entry, Filter
from compdiff.archive.history import line_of
from compdiff.model import Run
from compdiff.regression.config import Config
from compdiff.regression.runs import Key, by_key
from compdiff.regression.structure import place_of

PINNED = "pinned"
LATEST = "latest"
# Enough to see how far apart runs lie; each takes time to read.
_MOST = 5


def from_archive(config: Config, keys: Sequence[Key]) -> Mapping[Key, Sequence[Run]]:
    """Return the runs of each case that the baseline's reference means, `pinned` where none is named, newest first.

    The newest of them is the one that structure and numerics are compared with. The others are those that are comparable
    with it: the same case, machine, software and structure, and also meant by the reference, or of the same commit. A case
    that the archive has no such run of is left out: it is new, or was never pinned.

    Raises:
        CompdiffError: the archive cannot be read.
    """
    with closing(Archive.open(config.archive)) as archive:
        reference = config.baseline or PINNED
        runs = [run for key in keys for run in _runs(archive, reference, key)]
    return by_key(runs)


def accept(location: str, runs: Sequence[Run], *, by: str, why: str) -> None:
    """Add the runs of one case and place and pin them, in place of those that were pinned.

    Raises:
        CompdiffError: the archive cannot be written.
    """
    case, where = runs[0].case.name, place_of(runs[0])
    with closing(Archive.open(location)) as archive:
        before = archive.find(Filter(case=case, pinned=True))
        added = [archive.add(run) for run in runs]
        for run_id in added:
            archive.pin(run_id, by=by, why=why)
        for entry in before:
            if entry.id not in added and place_of(archive.load(entry.id)) == where:
                archive.unpin(entry.id)


def _runs(archive: Archive, reference: str, key: Key) -> Iterator[Run]:
    """Yield the run that the reference means, then those comparable with it."""
    case, where = key
    meant = [entry for entry in _meant(archive, reference, case) if not entry.failure]
    for index, first in enumerate(meant):
        run = archive.load(first.id)
        if place_of(run) == where:
            yield run
            others = _same_commit(archive, first) if reference != LATEST else ()
            yield from _comparable(archive, first, (*meant[index + 1 :], *others))
            return


def _meant(archive: Archive, reference: str, case: str) -> Sequence[Entry]:
    """Return the entries that a reference means, newest first."""
    if reference == PINNED:
        return archive.find(Filter(case=case, pinned=True))
    if reference == LATEST:
        return archive.find(Filter(case=case))
    tagged = archive.find(Filter(case=case, tag=reference))
    return tagged or [archive.resolve(f"{reference}:{case}")]


def _same_commit(archive: Archive, first: Entry) -> Sequence[Entry]:
    """Return the runs of the same commit; a run with uncommitted changes is of none."""
    if not first.commit.id or first.commit.dirty:
        return ()
    return archive.find(Filter(case=first.case, commit=first.commit.id, dirty=False))


def _comparable(archive: Archive, first: Entry, others: Sequence[Entry]) -> Iterator[Run]:
    """Yield the runs of those entries that differ from the first in nothing but their numbers, the first few."""
    alike = {entry.id for entry in others if _kind(entry) == _kind(first)} - {first.id}
    wanted = [entry.id for entry in others if entry.id in alike]
    for run_id in list(dict.fromkeys(wanted))[: _MOST - 1]:
        yield archive.load(run_id)


def _kind(entry: Entry) -> tuple[object, ...]:
    """Return what runs have in common whose times may be taken together."""
    software = (entry.torch, entry.triton, entry.cuda, entry.driver, entry.python)
    structure = (
        entry.left.op_calls,
        entry.right.op_calls,
        entry.right.kernels,
        entry.graph_breaks,
        entry.recompiles,
        tuple(sorted(entry.rules.items())),
    )
    return (line_of(entry), entry.host, entry.failure, software, structure)
