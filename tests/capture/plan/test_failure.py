"""Errors of planning in the user's terms."""

import pytest
import torch

from compdiff.capture.plan.failure import explained
from compdiff.errors import CaptureError


class DynamicOutputShapeException(Exception):  # noqa: N818 - torch's name
    """Stands for torch's."""


class UnsupportedOperatorException(RuntimeError):  # noqa: N818 - torch's name
    """Stands for torch's."""


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (DynamicOutputShapeException("aten.nonzero.default"), "aten.nonzero.default"),
        (RuntimeError("Found no NVIDIA driver on your system."), "asks the CUDA driver"),
        (UnsupportedOperatorException("aten._to_sparse.default"), "aten._to_sparse.default"),
        (RuntimeError(".numpy() is not supported for tensor subclasses."), "numpy() reads values"),
        (AssertionError("self.shape_env must not be None"), "depend on values"),
    ],
)
def test_names_what_needed_the_device(error: Exception, words: str) -> None:
    """The message says which call, the hint what to do."""
    reason = explained(error)
    assert isinstance(reason, CaptureError)
    assert words in reason.message
    assert "--device cuda" in reason.hint


def test_names_an_op_of_the_case_without_a_rule() -> None:
    """The hint says how to give it one."""
    error = RuntimeError(
        "There was no fake impl registered for <CustomOpDef(mine::scale)>. This is"
    )
    reason = explained(error)
    assert isinstance(reason, CaptureError)
    assert "mine::scale" in reason.message
    assert "register_fake" in reason.hint


def test_finds_the_cause_below() -> None:
    """Dynamo wraps what the backend raised."""
    error = ValueError("outer")
    error.__cause__ = RuntimeError("Found no NVIDIA driver")
    assert isinstance(explained(error), CaptureError)


@pytest.mark.parametrize("error", [ValueError("the case's own"), CaptureError("ours")])
def test_leaves_other_errors_alone(error: Exception) -> None:
    """What the case raises stays what it is."""
    assert explained(error) is error


class FakeTensorDeviceMismatchError(Exception):
    """Stands for torch's."""


class InductorError(Exception):
    """Stands for torch's."""


@pytest.mark.parametrize(
    ("error", "words", "hint"),
    [
        (
            FakeTensorDeviceMismatchError("Expected all tensors to be on the same device, but"),
            "on the same device",
            "A GPU refuses this too",
        ),
        (
            RuntimeError(".numpy() is not supported for tensor subclasses."),
            ".numpy() reads values",
            "--device cuda",
        ),
        (
            AttributeError("'NoneType' object has no attribute 'ignore_fresh_unbacked_symbols'"),
            "while_loop",
            "--device cuda",
        ),
    ],
)
def test_names_what_the_case_asks(error: Exception, words: str, hint: str) -> None:
    """Each with what to do."""
    reason = explained(error)
    assert isinstance(reason, CaptureError)
    assert words in reason.message
    assert hint in reason.hint


def test_an_error_of_the_compiler_is_said_to_be_its_own() -> None:
    """It is not about a value of the case: there Dynamo breaks the graph."""
    error = InductorError("wrapped")
    error.__cause__ = _raised_in_torch()
    reason = explained(error)
    assert isinstance(reason, CaptureError)
    assert reason.message.startswith("torch.compile failed, by an error of its own: ValueError")


def test_what_other_code_raises_while_compiling_stays_what_it_is() -> None:
    """An op's own rule for fake tensors may fail in Inductor."""
    error = InductorError("wrapped")
    error.__cause__ = ValueError("the case's own")
    assert explained(error) is error


def _raised_in_torch() -> Exception:
    try:
        torch.nn.functional.dropout(torch.zeros(2), 7.0)
    except ValueError as error:
        return error
    raise AssertionError
