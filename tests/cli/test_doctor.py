"""`compdiff doctor`."""

import pytest

from compdiff.cli import run_command
from compdiff.doctor import examine


def test_says_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    """Each check is a line; exit code 0 where cases run on the CPU, as they do in these tests."""
    assert run_command(["doctor"]) == 0
    text = capsys.readouterr().out
    assert all(word in text for word in ("python", "torch", "triton", "gpu", "c++ compiler"))


def test_lacks_come_with_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a C++ compiler the check fails and says how to get one."""
    monkeypatch.setenv("CXX", "no-such-compiler")
    (check,) = (check for check in examine() if check.name == "c++ compiler")
    assert not check.fine
    assert check.needed
    assert "apt-get install g++" in check.advice
