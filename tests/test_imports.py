"""What commands import, each seen in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path
from time import perf_counter

import pytest

from compdiff.store import write_run
from tests.capture.stand_ins import empty_run

WATCHED = ("sqlalchemy", "fsspec", "torch", "jinja2", "rich", "deepdiff", "pygments", "msgspec")
SLOWEST = 8
_WATCH = f"""
import sys
from compdiff.cli import run_command
code = run_command(sys.argv[1:])
print("loaded:", *(name for name in {WATCHED} if name in sys.modules))
sys.exit(code)
"""


def loaded(*arguments: str) -> set[str]:
    """Return which of the watched packages a command loads."""
    result = subprocess.run(  # noqa: S603 - this project's own command
        [sys.executable, "-c", _WATCH, *arguments],
        env={**_no_display(), "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    return set(result.stdout.splitlines()[-1].split()[1:])


def _no_display() -> dict[str, str]:
    """Return the environment without what would let a browser start."""
    screens = {"DISPLAY", "WAYLAND_DISPLAY", "BROWSER"}
    return {name: value for name, value in os.environ.items() if name not in screens}


@pytest.fixture(name="run_file")
def _run_file(tmp_path: Path) -> Path:
    path = tmp_path / "case" / "run.json.gz"
    write_run(empty_run("case"), path)
    return path


def test_help_loads_nothing_heavy() -> None:
    """`--help` needs only click."""
    assert loaded("--help") == set()


def test_cases_loads_no_torch() -> None:
    """Listing the shipped cases neither imports torch nor a template engine."""
    assert loaded("cases") <= {"msgspec"}


def test_report_loads_no_torch(run_file: Path) -> None:
    """Rendering a saved run again needs the template engine, but no torch."""
    names = loaded("report", str(run_file))
    assert "torch" not in names
    assert "jinja2" in names


def test_diff_loads_no_torch(run_file: Path) -> None:
    """Comparing two runs needs no torch, even when it refuses them."""
    assert "torch" not in loaded("diff", str(run_file), str(run_file))


def test_open_loads_no_torch(run_file: Path) -> None:
    """Opening a run needs no torch, even when its report is still to be written."""
    assert "torch" not in loaded("open", str(run_file))


def test_listing_an_archive_loads_nothing_heavy(tmp_path: Path) -> None:
    """An archive in a folder needs no database library, and listing it no report."""
    location = str(tmp_path / "archive")
    loaded("archive", "init", "--archive", location)
    assert loaded("archive", "list", "--archive", location) <= {"msgspec"}


def test_help_is_fast() -> None:
    """`compdiff --help` takes under 8 times as long as Python takes to do nothing."""
    main = "from compdiff.cli import main; main(['--help'])"
    nothing, help_text = shortest("pass"), shortest(main)
    assert help_text < SLOWEST * nothing


def shortest(code: str) -> float:
    """Return the shortest of several times (s) that a program takes: other processes only add."""
    times = []
    for _ in range(7):
        start = perf_counter()
        subprocess.run(  # noqa: S603 - the code stands above
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdout=subprocess.DEVNULL,
            check=True,
        )
        times.append(perf_counter() - start)
    return min(times)
