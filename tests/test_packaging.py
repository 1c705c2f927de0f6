"""The wheel holds what the checkout holds. The tests run from links to the checkout (`make check`)."""

import configparser
import zipfile
from pathlib import Path

import pytest

import compdiff

ROOT = Path(__file__).resolve().parents[1]
WHEELS = sorted((ROOT / "dist").glob("compdiff-*.whl"))


def settings() -> configparser.ConfigParser:
    """Return setup.cfg."""
    parser = configparser.ConfigParser()
    parser.read(ROOT / "setup.cfg", encoding="utf-8")
    return parser


def folders() -> set[str]:
    """Return the packages that the folders make: with Python files, or with templates."""
    python = {path.parent for path in (ROOT / "compdiff").rglob("*.py")}
    names = {".".join(path.relative_to(ROOT).parts) for path in python}
    templates = {path.parent for path in (ROOT / "templates").rglob("*.html")}
    names |= {".".join(("compdiff", *path.relative_to(ROOT).parts)) for path in templates}
    return names | {"compdiff.cases"}


def wheel_names() -> set[str]:
    """Return the files in the built wheel."""
    with zipfile.ZipFile(WHEELS[-1]) as wheel:
        return set(wheel.namelist())


needs_wheel = pytest.mark.skipif(not WHEELS, reason="no wheel in dist: `make check` builds it")


@pytest.mark.skipif(Path.cwd() == ROOT, reason="run from the checkout, for development")
def test_the_wheel_is_what_is_tested() -> None:
    """`make check` tests the installed package, not the checkout."""
    assert not Path(compdiff.__file__).resolve().is_relative_to(ROOT / "compdiff")


def test_package_list_equals_folders() -> None:
    """The explicit list of packages in setup.cfg misses none and names none that is gone."""
    listed = settings()["options"]["packages"].split()
    assert listed == sorted(listed)
    assert set(listed) == folders()


@needs_wheel
@pytest.mark.parametrize("folder", ["templates", "cases"])
def test_wheel_holds_folder(folder: str) -> None:
    """Every template and case of the checkout is in the wheel."""
    files = [path for path in (ROOT / folder).rglob("*") if path.is_file()]
    kept = [path for path in files if "__pycache__" not in path.parts]
    assert kept
    assert {f"compdiff/{path.relative_to(ROOT)}" for path in kept} <= wheel_names()


@needs_wheel
def test_wheel_holds_all_modules() -> None:
    """Every module of the checkout is in the wheel, with the mark that it is typed."""
    modules = {str(path.relative_to(ROOT)) for path in (ROOT / "compdiff").rglob("*.py")}
    assert modules | {"compdiff/py.typed"} <= wheel_names()


@needs_wheel
def test_wheel_holds_no_tests() -> None:
    """Tests and documentation stay out."""
    tops = {name.split("/")[0] for name in wheel_names()}
    assert all(top == "compdiff" or top.endswith(".dist-info") for top in tops)
