"""`compdiff open`."""

import shutil
import webbrowser
from pathlib import Path

import pytest

from compdiff.cli import run_command
from compdiff.store import RUN_FILE
from tests.variants import GOLDEN


@pytest.fixture(name="opened", autouse=True)
def _opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note the addresses that a browser would open."""
    opened: list[str] = []

    def note(url: str) -> bool:
        opened.append(url)
        return True

    monkeypatch.setattr(webbrowser, "open", note)
    monkeypatch.setenv("DISPLAY", ":0")
    return opened


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    """Give a folder with a saved run and no report."""
    shutil.copy(GOLDEN / "linear.run.json.gz", tmp_path / RUN_FILE)
    return tmp_path


@pytest.mark.parametrize("name", ["", RUN_FILE])
def test_a_missing_report_is_written(
    folder: Path, opened: list[str], capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """The folder or the run in it: the report is made, opened, and its path printed."""
    assert run_command(["open", str(folder / name)]) == 0
    page = folder / "report.html"
    assert page.is_file()
    assert opened == [page.as_uri()]
    assert capsys.readouterr().out == f"{page}\n"


def test_a_report_that_is_there_is_opened(folder: Path, opened: list[str]) -> None:
    """It is not written again."""
    page = folder / "report.html"
    page.write_text("mine")
    run_command(["open", str(folder)])
    assert page.read_text() == "mine"
    assert opened == [page.as_uri()]


@pytest.mark.parametrize("name", ["ladder.html", "index.html"])
def test_pages_of_several_runs_are_opened(tmp_path: Path, opened: list[str], name: str) -> None:
    """A folder with a ladder or an index opens that."""
    (tmp_path / name).write_text("")
    assert run_command(["open", str(tmp_path)]) == 0
    assert opened == [(tmp_path / name).as_uri()]


def test_a_page_is_opened(tmp_path: Path, opened: list[str]) -> None:
    """A path to a page is that page."""
    (tmp_path / "other.html").write_text("")
    run_command(["open", str(tmp_path / "other.html")])
    assert opened == [(tmp_path / "other.html").as_uri()]


def test_without_a_display_the_path_is_printed(
    folder: Path,
    opened: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A browser in the terminal is not started; where to look is said."""
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    assert run_command(["open", str(folder)]) == 0
    captured = capsys.readouterr()
    assert captured.out == f"{folder / 'report.html'}\n"
    assert "No browser here" in captured.err
    assert opened == []


def test_nothing_to_open(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An empty folder is exit code 2, with what to give instead."""
    assert run_command(["open", str(tmp_path)]) == 2
    assert "no report and no run.json.gz there" in capsys.readouterr().err
