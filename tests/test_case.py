"""Finding and selecting cases."""

import os
from pathlib import Path

import pytest

from compdiff.case import case_files, find, survey
from compdiff.errors import CaseError

CASE = '''"""One."""
def inputs(device, dtype, size=64): ...
def fn(x): ...
'''
SETS = (
    CASE + 'PARAMS = {"small": {"size": 8}, "big": {"size": 9, "device": "cuda"}, "b": {"size": 7}}'
)
ONE_EACH = CASE + 'PARAMS = {"c": {"device": "cpu"}, "g": {"size": 9, "device": "cuda"}}'


@pytest.fixture(name="folder")
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a working folder with cases and other files."""
    files = {
        "a/one.py": CASE,
        "a/sets.py": SETS,
        "a/other.py": "x = 1",
        "a/.hidden/no.py": CASE,
        "b/one.py": CASE,
        "b/each.py": ONE_EACH,
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names(*targets: str, device_type: str = "cpu", select: str | None = None) -> list[str]:
    """Return the names of the cases found."""
    return [spec.name for spec in find(targets, device_type=device_type, select=select)]


@pytest.mark.usefixtures("folder")
def test_a_file_is_named_after_itself() -> None:
    """One active parameter set gives the bare name."""
    assert names("a/one.py") == ["one"]
    assert names("b/each.py") == ["each"]


@pytest.mark.usefixtures("folder")
def test_sets_are_named() -> None:
    """Several active sets give one case each, with the parameters of the set."""
    specs = find(["a/sets.py"], device_type="cuda")
    assert [spec.name for spec in specs] == ["sets-small", "sets-big", "sets-b"]
    assert [spec.params for spec in specs] == [{"size": 8}, {"size": 9}, {"size": 7}]


@pytest.mark.usefixtures("folder")
def test_sets_of_another_device_are_skipped_with_a_reason() -> None:
    """What does not run says why."""
    found = survey(["a/sets.py"], device_type="cpu")
    assert [(one.name, one.reason) for one in found.skipped] == [
        ("sets-big", "its parameter set is for cuda only")
    ]


@pytest.mark.usefixtures("folder")
def test_directories_and_globs() -> None:
    """Both find cases below them, sorted, and pass over everything else."""
    assert names("a") == ["one", "sets-small", "sets-b"]
    assert names("a/*.py") == names("a")
    assert names("*", select="sets") == ["sets-small", "sets-b"]


def test_absolute_globs(folder: Path) -> None:
    """A glob may be absolute."""
    assert names(f"{folder}/b/*.py") == ["each", "one"]


@pytest.mark.usefixtures("folder")
def test_each_file_once() -> None:
    """A file named twice runs once, in the place of its first naming."""
    assert names("b/one.py", "b", "./b/one.py") == ["one", "each"]


@pytest.mark.usefixtures("folder")
def test_names_are_unique() -> None:
    """Equal file names are told apart by their folder."""
    assert names("a/one.py", "b/one.py") == ["a-one", "b-one"]


def test_names_are_unique_even_so(folder: Path) -> None:
    """Equal folder names are told apart by a number."""
    for parent in ("x", "y"):
        (folder / parent / "a").mkdir(parents=True)
        (folder / parent / "a" / "one.py").write_text(CASE)
    assert names("x", "y") == ["a-one", "a-one-2"]


def test_names_are_safe(folder: Path) -> None:
    """A name is safe as a folder and in a URL, whatever the file is called."""
    (folder / "we ird?&.py").write_text(CASE)
    assert names("we ird?&.py") == ["we-ird"]


@pytest.mark.usefixtures("folder")
def test_overrides() -> None:
    """--param replaces the value of every set."""
    specs = find(["a/sets.py"], device_type="cpu", overrides={"size": 1})
    assert [spec.params for spec in specs] == [{"size": 1}, {"size": 1}]


@pytest.mark.usefixtures("folder")
def test_unknown_parameter() -> None:
    """A parameter that `inputs` does not take is refused, with those it takes."""
    with pytest.raises(CaseError, match="has no parameter 'sise'") as caught:
        find(["a/one.py"], device_type="cpu", overrides={"sise": 1})
    assert caught.value.hint == "Its parameters: size."


def test_references() -> None:
    """A function in a package is a case with --inputs, and is not imported."""
    (spec,) = find(["no.such:fn"], device_type="cpu", inputs_ref="no.such:make")
    assert (spec.name, spec.form, spec.path) == ("fn", "reference", "no.such:fn")
    assert spec.inputs == "no.such:make"


def test_equal_function_names() -> None:
    """References are told apart by their module."""
    specs = find(["p.a:fn", "p.b:fn"], device_type="cpu", inputs_ref="p:make")
    assert [spec.name for spec in specs] == ["p.a-fn", "p.b-fn"]


@pytest.mark.parametrize(
    ("target", "inputs_ref", "words"),
    [
        ("p:fn", "", "has no inputs"),
        ("p:fn", "p.make", "not of the form"),
        ("a/one.py", "p:make", "--inputs is for"),
        ("absent.py", "", r"no case found at absent\.py"),
        ("absent/*.py", "", "no case found"),
        ("a/other.py", "", "is not a case"),
        ("a/.hidden/../../c", "", "no case found"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_refusals(target: str, inputs_ref: str, words: str) -> None:
    """A target that is no case says so."""
    with pytest.raises(CaseError, match=words):
        find([target], device_type="cpu", inputs_ref=inputs_ref)


def test_unreadable_file(folder: Path) -> None:
    """A directory in place of a file is not read."""
    os.mkfifo(folder / "pipe.txt")
    with pytest.raises(CaseError, match="no case found"):
        find(["pipe.txt"], device_type="cpu")


@pytest.mark.usefixtures("folder")
def test_case_files() -> None:
    """Files are listed once, whatever their parameter sets."""
    assert [case.path.name for case in case_files(["a"])] == ["one.py", "sets.py"]
