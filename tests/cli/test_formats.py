"""`--format`: stdout holds one output and nothing else; the files are written all the same."""

import json
import shutil
from pathlib import Path

import pytest

from compdiff.capture import isolation
from compdiff.cli import run_command
from compdiff.store import RUN_FILE
from tests.cli.test_run import CASE
from tests.variants import GOLDEN

FILES = {"json": "diff.json", "md": "summary.md", "html": "report.html"}


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    """Give a folder with a saved run."""
    shutil.copy(GOLDEN / "linear.run.json.gz", tmp_path / RUN_FILE)
    return tmp_path


def printed(folder: Path, form: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Return what `compdiff report` prints in a format."""
    assert run_command(["report", str(folder / RUN_FILE), "--format", form]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("form", FILES)
def test_stdout_is_the_file(folder: Path, form: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What a pipe gets is what the file has, byte for byte."""
    assert printed(folder, form, capsys) == (folder / FILES[form]).read_text()


def test_the_path_goes_to_stderr(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A person sees where the report is; a pipe does not."""
    run_command(["report", str(folder / RUN_FILE), "--format", "json"])
    assert str(folder / "report.html") in capsys.readouterr().err


def test_text_is_the_tree(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every op call stands with what it became, plain when piped."""
    text = printed(folder, "text", capsys)
    assert "rewritten  r1 mm-add-to-addmm" in text
    assert "=> c0 aten::addmm.out" in text
    assert "\x1b" not in text


def test_the_summary_is_the_default(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without the option all is as it was."""
    summary = printed(folder, "summary", capsys)
    run_command(["report", str(folder / RUN_FILE)])
    assert capsys.readouterr().out == summary


def test_diff_prints_a_format(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A comparison of two runs is a document too."""
    file = str(folder / RUN_FILE)
    assert run_command(["diff", file, file, "--out", str(folder), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["schema"] == "compdiff.diff/1"


@pytest.fixture(name="cases")
def _cases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give two case files in the working folder, and a stand-in that measures them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(isolation, "MEASURE", "tests.capture.stand_ins:kept")
    for name in ("one", "two"):
        (tmp_path / f"{name}.py").write_text(CASE.format(extra="print('the case speaks')"))


@pytest.mark.usefixtures("cases")
def test_cases_follow_one_another(capfd: pytest.CaptureFixture[str]) -> None:
    """Of several cases stdout has one document after the other; what they print and the index go to stderr."""
    code = run_command(["run", "one.py", "two.py", "--device", "cpu", "--format", "json"])
    out = capfd.readouterr().out
    first, end = json.JSONDecoder().raw_decode(out)
    second = json.loads(out[end:])
    assert code == 0
    assert (first["case"], second["case"]) == ("one", "two")


@pytest.mark.usefixtures("cases")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("one.py", "two.py", "--format", "html"), "--format html prints one page"),
        (("one.py", "--ladder", "--format", "md"), "--ladder makes several"),
        (("one.py", "--format", "yaml"), "'yaml' is not one of"),
    ],
)
def test_what_cannot_be_printed(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str
) -> None:
    """It is refused before anything is measured."""
    assert run_command(["run", "--device", "cpu", *arguments]) == 2
    assert words in capsys.readouterr().err
    assert not Path("compdiff-out").exists()
