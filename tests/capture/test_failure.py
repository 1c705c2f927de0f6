"""Tests of compdiff.capture.failure."""

from collections.abc import Callable

import pytest
import torch

from compdiff.capture.failure import failure_of
from compdiff.errors import CaptureError
from compdiff.model import Failure


def failure(raising: Callable[[], object]) -> Failure:
    """Return the failure that a call ends in."""
    try:
        raising()
    except BaseException as error:  # noqa: BLE001 - whatever it raises is the test
        return failure_of(error, "a stage")
    pytest.fail("nothing was raised")


def test_the_case_s_frames_stay_and_torch_s_are_counted() -> None:
    """A TypeError from inside torch shows the line of the case that called it."""
    found = failure(lambda: torch.nn.functional.layer_norm(torch.ones(2), (3,)))
    assert found.message.startswith("RuntimeError: Given normalized_shape=[3]")
    assert "layer_norm(torch.ones(2), (3,))" in found.traceback
    assert found.traceback.endswith(found.message)


def test_an_error_of_torch_alone_shows_one_frame() -> None:
    """What Dynamo raises has the user's code in its message; the way through torch is only counted."""

    def branching(x: torch.Tensor) -> torch.Tensor:
        return x if x.sum() > 0 else -x

    compiled = torch.compile(branching, fullgraph=True, backend="eager")
    code = compile("def call(fn, x):\n    return fn(x)\n", "<string>", "exec")
    namespace: dict[str, Callable[..., object]] = {}
    exec(code, namespace)  # noqa: S102 - frames of generated code are hidden as torch's are
    with pytest.raises(torch._dynamo.exc.Unsupported) as caught:
        namespace["call"](compiled, torch.ones(2))
    found = failure_of(caught.value.with_traceback(caught.tb.tb_next), "compile")
    assert "frames of compdiff and torch" in found.traceback
    assert found.traceback.count('  File "') <= 1 + found.message.count('  File "')
    assert "if x.sum() > 0" in found.message


def test_exit_is_named() -> None:
    """A case that calls sys.exit gets its code back, not an empty message."""

    def leave() -> None:
        raise SystemExit(3)

    assert failure(leave).message == "the case called sys.exit(3)"


def test_an_error_of_compdiff_has_no_traceback_of_its_own() -> None:
    """What compdiff raises on purpose is its message; what caused it keeps its traceback."""

    def refuse() -> None:
        try:
            torch.ones(2).reshape(3)
        except RuntimeError as error:
            raise CaptureError("no such shape", "try another") from error

    found = failure(refuse)
    assert found.message == "no such shape"
    assert "RuntimeError" in found.traceback
    assert "CaptureError" not in found.traceback
