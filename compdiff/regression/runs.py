"""Runs from folders. In: paths. Out: runs by case and place, sorted by name."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from compdiff.errors import CompdiffError
from compdiff.model import Run
from compdiff.regression.structure import place_of
from compdiff.store import read_run

Key = tuple[str, str]


def read_runs(path: Path) -> list[Run]:
    """Return the runs in a file, or below a folder: each file whose name ends in `run.json.gz`, in order of path.

    Raises:
        CompdiffError: there is none, or one cannot be read.
    """
    if path.is_file():
        return [read_run(path)]
    files = sorted(path.rglob("*run.json.gz")) if path.is_dir() else []
    if not files:
        raise CompdiffError(
            f"no run found at {path}", "Give a folder that `compdiff run --out` wrote."
        )
    return [read_run(file) for file in files]


def by_key(runs: Iterable[Run]) -> Mapping[Key, Sequence[Run]]:
    """Return the runs of each case and place, in the order given."""
    found: dict[Key, list[Run]] = defaultdict(list)
    for run in runs:
        found[run.case.name, place_of(run)].append(run)
    return dict(found)
