"""Tests of compdiff.capture.environment, on this machine and on a git repository made for them."""

import platform
import subprocess
from pathlib import Path

import pytest
import torch

from compdiff import __version__
from compdiff.capture import environment
from compdiff.capture.environment import cpu_model, describe, first_line, git_state

GIT = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]


@pytest.fixture(name="repository")
def _repository(tmp_path: Path) -> Path:
    """Return a repository with one commit of one file."""
    (tmp_path / "case.py").write_text("x = 1\n", encoding="utf-8")
    for words in (["init", "-q"], ["add", "case.py"], ["commit", "-q", "-m", "first"]):
        subprocess.run([*GIT, *words], cwd=tmp_path, check=True)  # noqa: S603 - fixed words
    return tmp_path


def test_versions_are_those_of_this_process() -> None:
    """torch, Python and compdiff are named as they are."""
    found = describe("cpu")

    assert found.torch == torch.__version__
    assert found.python == platform.python_version()
    assert found.compdiff == __version__
    assert found.threads == torch.get_num_threads()


def test_a_cpu_run_names_no_gpu() -> None:
    """Device and driver are those of the device that was used."""
    found = describe("cpu")

    assert (found.device, found.driver) == ("", "")


def test_the_commit_is_that_of_the_cases_folder(repository: Path) -> None:
    """The folder of the case counts, not the one in which compdiff was started."""
    found = describe("cpu", str(repository / "case.py"))

    assert len(found.git_commit) == 40
    assert found.git_commit == git_state(repository)[0]
    assert not found.git_dirty


def test_the_branch_and_the_host_are_named(repository: Path) -> None:
    """The branch is the one checked out; a commit checked out by itself has none."""
    switch = [*GIT, "switch", "-q", "-c", "topic"]
    subprocess.run(switch, cwd=repository, check=True)  # noqa: S603 - fixed words
    found = describe("cpu", str(repository / "case.py"))
    assert (found.git_branch, found.host) == ("topic", platform.node())

    detach = [*GIT, "switch", "-q", "--detach"]
    subprocess.run(detach, cwd=repository, check=True)  # noqa: S603 - fixed words
    assert describe("cpu", str(repository / "case.py")).git_branch == ""


def test_a_changed_file_makes_the_repository_dirty(repository: Path) -> None:
    """A tracked file that differs from the commit counts."""
    (repository / "case.py").write_text("x = 2\n", encoding="utf-8")

    assert git_state(repository)[1]


def test_a_new_file_does_not_make_the_repository_dirty(repository: Path) -> None:
    """The reports of a first run do not change what the second says of itself."""
    (repository / "report.html").write_text("", encoding="utf-8")

    assert not git_state(repository)[1]


def test_a_folder_outside_git_has_no_commit(tmp_path: Path) -> None:
    """No repository is no error."""
    assert git_state(tmp_path) == ("", False)


def test_the_processor_is_read_from_cpuinfo(tmp_path: Path) -> None:
    """The first model name counts; a file without one leaves Python's own answer."""
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor\t: 0\nmodel name\t: Fast CPU @ 3: GHz\n", encoding="utf-8")

    assert cpu_model(cpuinfo) == "Fast CPU @ 3: GHz"
    assert cpu_model(tmp_path / "absent") == platform.processor()


@pytest.mark.parametrize("command", [["no-such-command"], ["false"]])
def test_a_command_that_is_absent_or_fails_says_nothing(command: list[str]) -> None:
    """What cannot be found out is empty."""
    assert first_line(command) == ""


def test_a_command_that_hangs_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver tool that never answers does not hold up the run."""
    monkeypatch.setattr(environment, "_COMMAND_TIMEOUT_S", 0.05)

    assert first_line(["sleep", "5"]) == ""


def test_the_compiler_is_the_one_that_inductor_uses(monkeypatch: pytest.MonkeyPatch) -> None:
    """CXX may hold a command with arguments; its first line of output is kept."""
    monkeypatch.setenv("CXX", "echo my compiler")

    assert describe("cpu").compiler == "my compiler --version"
