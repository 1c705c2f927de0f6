"""`compdiff bisect`: as a user types it, on a repository that is made here."""

from pathlib import Path

import pytest

from compdiff.cli import run_command
from tests.regression.test_bisect import Repository

CASE = """import torch
{extra}
def fn(x, w, b):
    return {body}

def inputs(device, dtype):
    return [torch.randn(32, 32, device=device, dtype=dtype) for _ in range(3)]
"""


@pytest.fixture(name="repository")
def _repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    (tmp_path / "repository").mkdir()
    monkeypatch.chdir(tmp_path / "repository")
    return Repository(tmp_path / "repository")


def write(repository: Repository, body: str, number: int, extra: str = "") -> str:
    """Return the commit of a case."""
    text = CASE.format(body=body, extra=extra)
    (repository.folder / "case.py").write_text(text)
    (repository.folder / "compdiff.toml").write_text('device = "cpu"\nbudget = 0.05\n')
    return repository.commit(number)


@pytest.mark.measured
def test_a_lost_rewrite_is_found(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """The commit that lost the addmm is named with what it lost; one that cannot be imported is skipped."""
    write(repository, "torch.relu(x @ w + b)", 0)
    write(repository, "torch.relu(x @ w + b)", 1, extra="# a comment")
    write(repository, "torch.relu(x @ w + b)", 2, extra="raise ImportError")
    write(repository, "torch.relu(x @ w + b)", 3, extra="# another")
    culprit = write(repository, "torch.relu(x @ w - b)", 4)
    write(repository, "torch.relu(x @ w - b)", 5, extra="# a comment")

    words = ["case.py", "--good", "HEAD~5", "--bad", "HEAD", "--find", "rewrite-lost"]
    assert run_command(["bisect", *words]) == 0

    out = capsys.readouterr().out
    assert f"first bad commit: {culprit[:7]} number 4 (Pat, " in out
    assert "case: mm-add-to-addmm" in out


@pytest.mark.measured
def test_a_bad_commit_that_passes(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """There is nothing to search for, and the message says so; --find that fits nothing is the same."""
    write(repository, "x + w + b", 0)
    write(repository, "x + w + b", 1, extra="# a comment")

    assert run_command(["bisect", "case.py", "--good", "HEAD~1", "--bad", "HEAD"]) == 2

    assert "does not fail" in capsys.readouterr().err


def test_a_revision_that_is_none(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is run."""
    write(repository, "x", 0)

    assert run_command(["bisect", "case.py", "--good", "none", "--bad", "HEAD"]) == 2

    assert "no such revision" in capsys.readouterr().err


def test_a_reference_has_no_file_to_keep(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """--same-case needs a file."""
    write(repository, "x", 0)

    words = ["package.module:fn", "--good", "HEAD", "--bad", "HEAD", "--same-case"]
    assert run_command(["bisect", *words]) == 2

    assert "needs a case that is a file" in capsys.readouterr().err
