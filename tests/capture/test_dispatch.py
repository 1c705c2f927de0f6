"""Tests of compdiff.capture.dispatch."""

from collections.abc import Callable
from pathlib import Path

import torch

from compdiff.capture.dispatch import record
from compdiff.capture.recorder import Place
from compdiff.model import OpCall


def _calls(step: Callable[[], object]) -> list[OpCall]:
    return record(step, Place(), sources=True)[0].op_calls


def test_composite_ops_are_seen_as_what_they_call() -> None:
    """Matmul of matrices reaches a backend as mm."""
    x = torch.ones(2, 3)
    with torch.no_grad():
        (call,) = _calls(lambda: torch.matmul(x, x.T.contiguous()))[2:]
    assert (call.name, call.overload) == ("aten::mm", "default")
    assert [meta.shape for meta in call.inputs] == [(2, 3), (3, 2)]
    assert call.outputs[0].shape == (2, 2)


def test_source_has_this_line_and_column() -> None:
    """The user's line is the innermost frame that is not torch's."""
    x = torch.ones(2)
    (call,) = _calls(lambda: torch.relu(x))
    assert call.source is not None
    assert Path(call.source.file).resolve() == Path(__file__).resolve()
    assert "torch.relu(x)" in call.source.text


def test_data_flow_can_be_followed_by_value() -> None:
    """What one call gives is what the next one takes."""
    x = torch.ones(2)
    first, second = _calls(lambda: torch.relu(torch.sin(x)))
    assert first.outputs[0].value == second.inputs[0].value
    assert first.outputs[0].storage != first.inputs[0].storage


def test_views_share_storage() -> None:
    """A view is another value on the same storage."""
    x = torch.ones(2, 3)
    (call,) = _calls(x.t)
    assert call.outputs[0].storage == call.inputs[0].storage
    assert call.outputs[0].value != call.inputs[0].value


def test_in_place_ops_change_the_value() -> None:
    """An in-place op is marked, and what it returns is a new value on the same storage."""
    x = torch.ones(2)
    write, read = _calls(lambda: torch.sin(x.add_(1)))
    assert write.mutates
    assert write.outputs[0].storage == write.inputs[0].storage
    assert write.outputs[0].value != write.inputs[0].value
    assert read.inputs[0].value == write.outputs[0].value


def test_freed_memory_is_not_taken_for_a_known_tensor() -> None:
    """A storage that is freed and reused within a step gets a new number."""
    x = torch.ones(1000)

    def step() -> object:
        for _ in range(4):
            torch.sin(x)
        return None

    storages = [call.outputs[0].storage for call in _calls(step)]
    assert len(set(storages)) == len(storages)


def test_backward_calls_name_their_forward_call() -> None:
    """A backward call has the sequence number, and so the source line, of the forward call it belongs to."""
    x = torch.ones(2, requires_grad=True)

    def step() -> None:
        x.grad = None
        torch.autograd.backward(torch.sin(x).sum())

    calls = _calls(step)
    sin = next(call for call in calls if call.name == "aten::sin")
    cos = next(call for call in calls if call.name == "aten::cos")
    assert (sin.phase, cos.phase) == ("forward", "backward")
    assert cos.sequence == sin.sequence
    assert cos.source == sin.source


def test_outputs_of_the_step_are_numbered() -> None:
    """The values of the step's outputs are those of the calls that made them."""
    x = torch.ones(2)
    recording, values = record(lambda: {"y": torch.sin(x)}, Place(), sources=False)
    assert values == (recording.op_calls[0].outputs[0].value,)


def test_marks_for_the_profiler_are_no_calls() -> None:
    """Optimizers put ranges around their steps."""

    def step() -> None:
        with torch.profiler.record_function("step"):
            torch.relu(torch.ones(2))

    assert not [call for call in _calls(step) if call.name.startswith("profiler::")]
