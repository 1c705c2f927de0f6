"""The first bad commit of a repository: found in a clone, in straight and in merged histories."""

import os
import subprocess
from pathlib import Path

import pytest

from compdiff.errors import CompdiffError
from compdiff.regression.bisect import Clone, Outcome, bisect, cloned


class Repository:
    """A repository whose commits each write a number into a file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *words: str) -> str:
        """Return what git prints."""
        identity = ["-c", "user.name=Pat", "-c", "user.email=pat@example.com"]
        environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
        return subprocess.run(  # noqa: S603 - fixed words
            ["git", *identity, *words],  # noqa: S607 - the machine's git
            cwd=self.folder,
            check=True,
            capture_output=True,
            text=True,
            env=environment,
        ).stdout.strip()

    def commit(self, number: int) -> str:
        """Return the name of a commit of a number."""
        (self.folder / "number").write_text(str(number))
        self.git("add", ".")
        self.git("commit", "--quiet", "--allow-empty", "--message", f"number {number}")
        return self.git("rev-parse", "HEAD")


@pytest.fixture(name="repository")
def _repository(tmp_path: Path) -> Repository:
    (tmp_path / "repository").mkdir()
    return Repository(tmp_path / "repository")


def number_in(clone: Clone) -> int:
    """Return the number of the commit that is checked out."""
    return int((clone.folder / "number").read_text())


@pytest.mark.parametrize("first", [1, 2, 10, 19])
def test_the_first_bad_commit(repository: Repository, first: int) -> None:
    """Twenty commits need about five tests, wherever the change is."""
    commits = [repository.commit(number) for number in range(20)]

    with cloned(repository.folder) as clone:
        found = bisect(
            clone, commits[0], commits[19], lambda _: "bad" if number_in(clone) >= first else "good"
        )

    assert found.commits == (commits[first],)
    assert found.tested <= 5


def test_commits_that_cannot_be_tested(repository: Repository) -> None:
    """They are skipped; where one of them may be the first bad one, all that may be are named."""
    commits = [repository.commit(number) for number in range(8)]

    def test(clone: Clone) -> Outcome:
        number = number_in(clone)
        return "skip" if number in {3, 4} else "bad" if number >= 5 else "good"

    with cloned(repository.folder) as clone:
        found = bisect(clone, commits[0], commits[7], lambda _: test(clone))

    assert set(found.commits) == set(commits[3:6])


def test_a_change_on_a_merged_branch(repository: Repository) -> None:
    """The commit of the branch is found, not the merge."""
    good = repository.commit(0)
    repository.git("checkout", "--quiet", "-b", "side")
    (repository.folder / "broken").write_text("x")
    repository.git("add", ".")
    repository.git("commit", "--quiet", "--message", "breaks it")
    broken = repository.git("rev-parse", "HEAD")
    repository.git("checkout", "--quiet", "main")
    repository.commit(1)
    repository.git("merge", "--quiet", "--no-edit", "side")
    bad = repository.commit(2)

    with cloned(repository.folder) as clone:
        found = bisect(
            clone, good, bad, lambda _: "bad" if (clone.folder / "broken").exists() else "good"
        )

    assert found.commits == (broken,)


def test_the_users_tree_is_never_touched(repository: Repository) -> None:
    """Files, branch, index and what is not committed stay as they were; the clone is gone at the end."""
    commits = [repository.commit(number) for number in range(4)]
    (repository.folder / "number").write_text("not committed")
    (repository.folder / "new").write_text("not added")
    before = repository.git("status", "--porcelain", "--branch"), repository.git("for-each-ref")

    with cloned(repository.folder) as clone:
        bisect(clone, commits[0], commits[3], lambda _: "bad" if number_in(clone) else "good")
        folder = clone.folder

    assert not folder.exists()
    assert (
        repository.git("status", "--porcelain", "--branch"),
        repository.git("for-each-ref"),
    ) == before
    assert (repository.folder / "number").read_text() == "not committed"


def test_branches_and_tags_of_the_user_are_known(repository: Repository) -> None:
    """Also those that a clone would leave out, and HEAD means the user's."""
    first = repository.commit(0)
    repository.git("branch", "old")
    repository.git("tag", "v1")
    second = repository.commit(1)

    with cloned(repository.folder) as clone:
        assert [clone.commit(name) for name in ("old", "v1", "HEAD~1")] == [first] * 3
        assert clone.commit("HEAD") == second
        clone.check_out(first)
        assert clone.subject(first).endswith("number 0")


@pytest.mark.parametrize("name", ["none", "--help", "-x", ""])
def test_what_is_no_revision(repository: Repository, name: str) -> None:
    """It is refused, and never an option of git."""
    repository.commit(0)

    with cloned(repository.folder) as clone, pytest.raises(CompdiffError):
        clone.commit(name)


def test_a_folder_without_repository(tmp_path: Path) -> None:
    """The message says what to check."""
    with pytest.raises(CompdiffError, match="git rev-parse failed") as caught, cloned(tmp_path):
        pass
    assert "git repository" in caught.value.hint


def test_hooks_of_the_user_do_not_run(repository: Repository, tmp_path: Path) -> None:
    """Checking out in the clone runs nothing else."""
    commit = repository.commit(0)
    hook = repository.folder / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)

    with cloned(repository.folder) as clone:
        clone.check_out(commit)

    assert not (tmp_path / "ran").exists()
