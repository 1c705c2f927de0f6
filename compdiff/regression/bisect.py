"""The first commit that a test fails at. In: a repository, a good and a bad revision, a test. Out: the commit, or several.

All happens in a clone of its own: the user's tree, index and branches are never touched. git chooses the commits, so
histories with merges are searched as `git bisect` searches them.
"""

import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from compdiff.errors import CompdiffError
from compdiff.regression.structure import one_line

Outcome = Literal["good", "bad", "skip"]
Test = Callable[[str], Outcome]
"""Says of the commit that is checked out whether it is good; `skip` where it cannot be told."""

_FIRST = re.compile(r"^([0-9a-f]{40,64}) is the first bad commit", re.MULTILINE)
_COULD_BE = re.compile(r"^([0-9a-f]{40,64})$", re.MULTILINE)
_ONLY_SKIPPED = "only 'skip'ped commits left"
# No hook of the user's and no pager runs in the clone; the words that are read are English.
_SETTINGS = ("-c", "core.hooksPath=/dev/null", "-c", "advice.detachedHead=false")


@dataclass(frozen=True)
class Found:
    """The commits of which one is the first bad one: one, unless others could not be tested. `tested` counts the tests."""

    commits: tuple[str, ...]
    tested: int


class Clone:
    """A clone of a repository, to check commits out."""

    def __init__(self, folder: Path, source: Path) -> None:
        self.folder = folder
        self._source = source

    def commit(self, revision: str) -> str:
        """Return the full name of the commit that a revision means in the user's repository.

        Raises:
            CompdiffError: it means none.
        """
        if revision.startswith("-"):
            raise CompdiffError(f"{revision!r} is no revision", "Name a commit, a branch or a tag.")
        return _git(self._source, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")

    def subject(self, commit: str) -> str:
        """Return the start of a commit's name and the first line of its message."""
        return one_line(self.git("log", "-1", "--format=%h %s", commit))

    def about(self, commit: str) -> str:
        """Return author and date of a commit."""
        return one_line(self.git("log", "-1", "--format=%an, %as", commit))

    def check_out(self, commit: str) -> None:
        """Make the files those of a commit."""
        self.git("checkout", "--quiet", "--force", "--detach", commit)
        self.git("clean", "--quiet", "-ffdx")

    def git(self, *words: str) -> str:
        """Return what git prints.

        Raises:
            CompdiffError: git failed.
        """
        return _git(self.folder, *words)


@contextmanager
def cloned(repository: Path) -> Iterator[Clone]:
    """Give a clone of the repository that a folder lies in; it is gone at the end.

    Raises:
        CompdiffError: the folder lies in none.
    """
    top = top_of(repository)
    with TemporaryDirectory(prefix="compdiff-bisect-") as folder:
        clone = Path(folder) / "repository"
        _git(top, "clone", "--quiet", "--shared", "--no-checkout", "--", str(top), str(clone))
        yield Clone(clone, top)


def top_of(folder: Path) -> Path:
    """Return the top of the working tree that a folder lies in.

    Raises:
        CompdiffError: it lies in none.
    """
    return Path(_git(folder, "rev-parse", "--show-toplevel"))


def bisect(clone: Clone, good: str, bad: str, test: Test) -> Found:
    """Return the first bad commit between two, of which `bad` was found bad and `good` good.

    Raises:
        CompdiffError: git cannot search between them.
    """
    said = clone.git("bisect", "start", "--no-checkout", bad, good)
    tested = 0
    while not (_FIRST.search(said) or _ONLY_SKIPPED in said):
        commit = clone.git("rev-parse", "--verify", "BISECT_HEAD")
        clone.check_out(commit)
        outcome = test(commit)
        said = clone.git("bisect", outcome, commit)
        tested += 1
    first = _FIRST.search(said)
    return Found((first[1],) if first else tuple(_COULD_BE.findall(said)), tested)


def _git(folder: Path, *words: str) -> str:
    try:
        result = subprocess.run(  # noqa: S603 - words of git; revisions stand after --end-of-options, or are full names
            ["git", "-C", str(folder), *_SETTINGS, *words],  # noqa: S607 - the user's git
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    except OSError as error:
        raise CompdiffError(f"cannot run git: {error.strerror}", "Install git.") from error
    # Left with commits that cannot be tested, git says so and fails.
    if result.returncode and _ONLY_SKIPPED not in result.stdout + result.stderr:
        said = one_line(result.stderr or result.stdout)
        raise CompdiffError(
            f"git {words[0]} failed: {said or 'no such revision'}",
            "Check that the case lies in a git repository, and both revisions.",
        )
    return result.stdout.strip()
