"""Tests of compdiff.capture.attributor."""

import pytest
import torch
from torch.fx import GraphModule, symbolic_trace

from compdiff.capture.attributor import Attributor
from compdiff.capture.recorder import Place


class _Runs:
    """A compiled graph that counts its runs and sees whether they are noted."""

    def __init__(self, module: GraphModule, place: Place) -> None:
        self.module, self.place = module, place
        self.paused: list[bool] = []

    def __call__(self, *args: torch.Tensor) -> object:
        self.paused.append(self.place.paused)
        return self.module(*args)


def _made(function: object) -> tuple[Attributor, _Runs, Place]:
    module = symbolic_trace(function)  # type: ignore[arg-type]
    place = Place()
    return Attributor(module, place, "0/0"), _Runs(module, place), place


def test_the_compiled_graphs_result_goes_on() -> None:
    """What runs next may ask whether two outputs are one tensor: the compiled graph decides that."""
    attributor, _, place = _made(lambda x: (x + 1, x + 1))
    one = torch.ones(2)
    made = attributor.run_in_place_of(lambda _: (one, one), torch.zeros(2))
    assert made[0] is made[1]
    assert not place.paused


def test_the_compiled_run_is_not_noted() -> None:
    """Its op calls are those of the step, not of the graph's nodes."""
    attributor, compiled, _ = _made(lambda x: x + 1)
    attributor.run_in_place_of(compiled, torch.zeros(2))
    assert compiled.paused == [True]


def test_an_input_is_written_once() -> None:
    """Where the graph wrote to an input the compiled one must not do so again."""
    attributor, compiled, _ = _made(lambda x: x.add_(1))
    value = torch.zeros(2)
    attributor.run_in_place_of(compiled, value)
    assert compiled.paused == []
    assert value.tolist() == [1.0, 1.0]


def test_autograd_goes_back_through_the_nodes() -> None:
    """The backward calls of the nodes are attributed by their sequence numbers."""
    attributor, compiled, _ = _made(lambda x: x * 2)
    made = attributor.run_in_place_of(compiled, torch.ones(2, requires_grad=True))
    assert made.requires_grad
    assert compiled.paused == []


def test_recording_goes_on_after_a_failure() -> None:
    """An error of the compiled graph leaves nothing paused."""

    def fails(*_: object) -> None:
        raise ValueError("no luck")

    attributor, _, place = _made(lambda x: x + 1)
    with pytest.raises(ValueError, match="no luck"):
        attributor.run_in_place_of(fails, torch.zeros(2))
    assert not place.paused
