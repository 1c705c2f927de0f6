"""What a case file says of itself, read without running it."""

from pathlib import Path

import pytest

from compdiff.casefile import looks_like_case, read_case
from compdiff.errors import CaseError

CASE = '''"""What it shows.

More.
"""
raise SystemExit("a case was executed")
PARAMS = {"a": {"size": 1, "device": "cuda"}, "b": {"size": 2, "name": None}}
def inputs(device, dtype, size=64, *, name=""): ...
def fn(x): ...
'''


def write(folder: Path, text: str, name: str = "one.py") -> Path:
    """Write a file and return its path."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_reads_without_running(tmp_path: Path) -> None:
    """Docstring, form, parameter sets and parameter names come from the source alone."""
    case = read_case(write(tmp_path, CASE))
    assert (case.form, case.summary) == ("fn", "What it shows.")
    assert case.sets == {"a": {"size": 1, "device": "cuda"}, "b": {"size": 2, "name": None}}
    assert case.known == ("size", "name")


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("class Model: ...\ndef get_inputs(): ...", "module"),
        ("from torch import softmax as fn\ndef inputs(device, dtype): ...", "fn"),
        ("import torch\nfn = torch.relu\ninputs = make", "fn"),
        ("if True:\n    def fn(): ...\n    def inputs(d, t): ...", "fn"),
    ],
)
def test_forms(tmp_path: Path, text: str, form: str) -> None:
    """Names count however they are bound."""
    path = write(tmp_path, text)
    assert looks_like_case(path)
    assert read_case(path).form == form


def test_parameters_of_a_module(tmp_path: Path) -> None:
    """A module takes the parameters of both functions that make its inputs."""
    makers = "def get_inputs(batch=1): ...\ndef get_init_inputs(width=2, batch=1): ..."
    assert read_case(write(tmp_path, f"class Model: ...\n{makers}")).known == ("width", "batch")


@pytest.mark.parametrize("inputs", ["inputs = make", "def inputs(device, dtype, **params): ..."])
def test_unknowable_parameters(tmp_path: Path, inputs: str) -> None:
    """Where the signature is not written out, any parameter is let through."""
    assert read_case(write(tmp_path, f"def fn(x): ...\n{inputs}")).known is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def fn(:", r"one\.py:1: invalid syntax"),
        ("x = 1", "is not a case"),
        ("def fn(x): ...", "is not a case"),
        (CASE.replace('"size": 1', '"size": [1]'), r"one\.py:6: PARAMS is not a literal"),
        (CASE.replace('"size": 1', '"size": n'), r"one\.py:6: PARAMS is not a literal"),
        (CASE.replace('"cuda"', '"gpu"'), r"one\.py:6: PARAMS is not a literal"),
        ("x = '\0'", r"one\.py"),
    ],
)
def test_errors_name_file_and_line(tmp_path: Path, text: str, words: str) -> None:
    """A file that cannot be used says where."""
    with pytest.raises(CaseError, match=words):
        read_case(write(tmp_path, text))


def test_other_encoding(tmp_path: Path) -> None:
    """A file that is not UTF-8 is refused by name."""
    path = tmp_path / "one.py"
    path.write_bytes(b"# \xff\ndef fn(x): ...")
    with pytest.raises(CaseError, match=r"one\.py is not UTF-8"):
        read_case(path)


@pytest.mark.parametrize("text", ["def fn(x): ...", "inputs = 1\nfunction = 2", ""])
def test_other_files_do_not_look_like_cases(tmp_path: Path, text: str) -> None:
    """Python files without both names are passed over in folders."""
    assert not looks_like_case(write(tmp_path, text))


def test_broken_case_looks_like_one(tmp_path: Path) -> None:
    """A case with a syntax error is not passed over in silence."""
    assert looks_like_case(write(tmp_path, "def fn(x):\n  return (\ndef inputs(): ..."))
