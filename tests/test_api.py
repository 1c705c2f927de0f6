"""compdiff from Python: reports of saved runs, and of functions that only this process has."""

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

import compdiff
from compdiff import api
from compdiff.errors import CompdiffError
from compdiff.model import Kernel, OpCall
from compdiff.store import RUN_FILE, encode_run, write_run
from tests.variants import golden

PUBLIC = {"Report", "Run", "__version__", "compare", "load"}


@pytest.fixture(name="report", scope="module")
def _report() -> compdiff.Report:
    """Give the report of a run with rewrites, kernels and views."""
    return api.report_of(golden("mlp_geglu"))


def python(code: str) -> str:
    """Return what a program prints in a process of its own."""
    return subprocess.run(  # noqa: S603 - the code stands in the test
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_public_names() -> None:
    """What is public is listed, and each of it is there."""
    assert set(compdiff.__all__) == PUBLIC
    assert all(getattr(compdiff, name) is not None for name in PUBLIC)


def test_other_names_are_missing() -> None:
    """A wrong name is an AttributeError, as of any module."""
    with pytest.raises(AttributeError, match="no attribute 'compile'"):
        getattr(compdiff, "compile")  # noqa: B009 - mypy knows that it is not there


def test_import_loads_nothing() -> None:
    """`import compdiff` takes no time: neither torch nor a template engine."""
    watched = ("torch", "jinja2", "rich", "msgspec", "compdiff.api")
    code = f"import compdiff, sys; print([name for name in {watched} if name in sys.modules])"
    assert python(code) == "[]\n"


def test_reading_a_run_needs_no_torch(tmp_path: Path) -> None:
    """A saved run is read, concluded and rendered without torch."""
    write_run(golden("linear"), tmp_path / RUN_FILE)
    code = (
        f"import compdiff, sys; r = compdiff.load({str(tmp_path)!r}); r.summary(); r.markdown(); r._repr_html_(); "
        "print(r.rules, 'torch' in sys.modules)"
    )
    assert python(code) == "('mm-add-to-addmm',) False\n"


def test_load_takes_a_file_or_its_folder(tmp_path: Path) -> None:
    """Both name the same run."""
    run = golden("linear")
    write_run(run, tmp_path / RUN_FILE)
    assert compdiff.load(tmp_path).run == run
    assert compdiff.load(str(tmp_path / RUN_FILE)).run == run


def test_load_says_what_is_no_run(tmp_path: Path) -> None:
    """The error names the file."""
    with pytest.raises(CompdiffError, match="nothing-here"):
        compdiff.load(tmp_path / "nothing-here")
    with pytest.raises(CompdiffError, match=RUN_FILE):
        compdiff.load(tmp_path)


@pytest.mark.parametrize("name", ["one.json.gz", "one.json"])
def test_save_and_load_give_the_same(report: compdiff.Report, tmp_path: Path, name: str) -> None:
    """A saved run is the run."""
    again = compdiff.load(report.save(tmp_path / name))
    assert encode_run(again.run) == encode_run(report.run)
    assert again.diff == report.diff


def test_every_item_has_an_answer(report: compdiff.Report) -> None:
    """Each eager op call has a fate, each compiled item an origin."""
    fates = [report.fate(call).fate for call in report.eager.op_calls]
    items: list[OpCall | Kernel] = [*report.compiled.op_calls, *report.compiled.kernels]
    assert len(fates) == len(report.diff.fates)
    assert [report.origin(item) for item in items]
    assert len(items) == len(report.diff.origins)


def test_an_item_of_another_run_is_refused(report: compdiff.Report) -> None:
    """The error names the item."""
    stranger = OpCall(id=999, name="aten::other")
    with pytest.raises(CompdiffError, match="aten::other"):
        report.fate(stranger)
    with pytest.raises(CompdiffError, match="aten::other"):
        report.origin(stranger)


def test_outputs_are_those_of_the_command_line(report: compdiff.Report, tmp_path: Path) -> None:
    """The texts are the summary, the Markdown, the document and the page."""
    assert report.sentence in " ".join(report.summary().split())
    assert "\x1b" not in report.summary()
    assert report.markdown().startswith("### compdiff: ")
    assert '"schema": "compdiff.diff/1"' in report.json()
    assert report.html(tmp_path / "r.html").read_text().startswith("<!DOCTYPE html>")
    assert report.sentence in repr(report)


def test_speedup_of_a_plan_is_unknown(report: compdiff.Report) -> None:
    """Nothing timed, no number."""
    untimed = api.report_of(msgspec.structs.replace(report.run, timing=None))
    assert untimed.speedup is None
    assert report.speedup is not None
    assert report.speedup > 0
