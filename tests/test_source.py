"""Tests of compdiff.source."""

import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

from compdiff.model import SourceLocation
from compdiff.source import innermost_user, is_user_file, location_of, parse_stack, user_location

_TRACE = textwrap.dedent(
    """\
      File "/home/u/model.py", line 3, in forward
        y = torch.add(torch.matmul(x, w), b)
                      ^^^^^^^^^^^^^^^^^^
      File "/x/site-packages/torch/nn/modules/linear.py", line 9, in forward
        return F.linear(input)
    """
)


def test_frame_gives_line_and_columns(tmp_path: Path) -> None:
    """The place of a running frame has the columns of the call that it makes."""
    file = tmp_path / "case.py"
    file.write_text("def run(f):\n    return 1 + f(2)\n")
    space: dict[str, object] = {}
    exec(compile(file.read_text(), str(file), "exec"), space)  # noqa: S102 - a frame with a real file is wanted
    seen: list[SourceLocation] = []

    def note(_: int) -> int:
        seen.append(location_of(sys._getframe(1)))
        return 0

    run = space["run"]
    assert callable(run)
    run(note)
    assert (seen[0].line, seen[0].text) == (2, "    return 1 + f(2)")
    if sys.version_info >= (3, 11):
        assert seen[0].text[seen[0].column : seen[0].end_column] == "f(2)"


def test_caret_line_gives_columns(tmp_path: Path) -> None:
    """A formatted trace's carets are moved to the columns of the file's own line."""
    file = tmp_path / "model.py"
    file.write_text(
        "import torch\ndef forward(x, w, b):\n            y = torch.add(torch.matmul(x, w), b)\n"
    )
    place = parse_stack(_TRACE.replace("/home/u/model.py", str(file)))[0]
    assert place.text[place.column : place.end_column] == "torch.matmul(x, w)"


def test_frames_come_outermost_first() -> None:
    """The frames stand in the order of the text."""
    assert [frame.function for frame in parse_stack(_TRACE)] == ["forward", "forward"]


def test_innermost_user_frame_skips_torch() -> None:
    """A frame of torch is nobody's source line as long as there is another."""
    place = innermost_user(_TRACE)
    assert place is not None
    assert place.file == "/home/u/model.py"


def test_no_frames_no_place() -> None:
    """An empty trace has no place."""
    assert innermost_user("") is None


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("/home/u/model.py", True),
        ("/v/lib/python3.11/site-packages/transformers/models/llama.py", True),
        ("/v/lib/python3.11/site-packages/torch/nn/functional.py", False),
        ("/tmp/torchinductor_u/ab/cab.py", False),  # noqa: S108
        ("<frozen runpy>", False),
        ("<eval_with_key>.3", False),
        ("<stdin>", True),
        ("<python-input-4>", True),
        ("<ipython-input-1-4a0ae3ed130c>", True),
    ],
)
def test_user_files(file: str, expected: bool) -> None:  # noqa: FBT001
    """Libraries built on torch are the user's; so is what was typed; torch itself and generated code are not."""
    assert is_user_file(file) is expected


def test_what_the_compiler_wrote_into_its_own_folder_is_not_the_users(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A call from generated code has no place of the user's, though his code stands further up the stack."""
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    generated, above = tmp_path / "ab" / "cab.py", tmp_path.parent / "model.py"
    namespace: dict[str, Callable[..., FrameType]] = {}
    code = "import sys\ndef call():\n    return sys._getframe()\n"
    exec(compile(code, str(generated), "exec"), namespace)  # noqa: S102 - a file of this test
    exec(compile("def step(call):\n    return call()\n", str(above), "exec"), namespace)  # noqa: S102
    assert not is_user_file(str(generated))
    assert user_location(namespace["step"](namespace["call"])) is None


def test_shipped_cases_are_user_files() -> None:
    """A case that is installed inside compdiff's package counts as the user's code."""
    package = Path(sys.modules["compdiff"].__file__ or "").parent
    assert is_user_file(str(package / "cases" / "linear.py"))
    assert not is_user_file(str(package / "cli" / "run.py"))
