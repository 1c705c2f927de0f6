"""What torch.compile is given: the case's COMPILE, the user's options, and a mode beside options."""

import pytest
import torch

from compdiff.capture.inductor import mode_options
from compdiff.capture.measure import compiled_function, merged_options
from compdiff.model import CompileOptions

OF_CASE: dict[str, object] = {"options": {"freezing": True}, "mode": "max-autotune"}


def test_the_user_overrides_the_case() -> None:
    """A mode that was asked for, `default` too, stands over that of the case; options of both are merged."""
    asked = CompileOptions(mode="default", options={"max_autotune": True})
    found = merged_options(asked, OF_CASE)
    assert found.mode == "default"
    assert found.options == {"freezing": True, "max_autotune": True}
    assert merged_options(CompileOptions(), OF_CASE).mode == "max-autotune"


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_backends_of_eager_ops_get_no_options(backend: str) -> None:
    """Inductor's options would only make them fail."""
    assert merged_options(CompileOptions(backend=backend), OF_CASE).options == {}


def test_a_mode_stands_for_options() -> None:
    """Inductor says which; the default mode stands for none."""
    assert mode_options("default") == {}
    assert mode_options("reduce-overhead") == {"triton.cudagraphs": True}


def test_a_mode_beside_options(monkeypatch: pytest.MonkeyPatch) -> None:
    """torch.compile refuses both, so the mode becomes options, over which those that were given stand."""
    given: list[dict[str, object]] = []

    def compile_(fn: object, **settings: object) -> object:
        given.append(settings)
        return fn

    monkeypatch.setattr(torch, "compile", compile_)
    compiled_function(
        int,
        CompileOptions(mode="max-autotune", options={"freezing": True, "max_autotune": False}),
    )
    compiled_function(int, CompileOptions(mode="max-autotune"))
    assert (given[0]["mode"], given[1]["mode"]) == (None, "max-autotune")
    assert given[0]["options"] == {
        **mode_options("max-autotune"),
        "max_autotune": False,
        "freezing": True,
    }
    assert given[1]["options"] is None
