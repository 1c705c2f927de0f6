"""What the attempts say together."""

import pytest

from compdiff.model import Numerics, OutputError
from compdiff.precision.switches import LAYERS, SWITCHES
from compdiff.precision.verdict import Attempt, Explanation, Outcome, explain

CASTS = SWITCHES[0]


def error(size: float) -> OutputError:
    """Return an error of one size."""
    return OutputError(max_abs=size, max_rel=size)


def first(outcome: Outcome, left: float = 2.0, right: float = 1.0) -> Attempt:
    """Return the case as asked."""
    numerics = Numerics(comparable=True, left=error(left), right=error(right), between=error(1.0))
    return Attempt(name="as asked", kind="as asked", outcome=outcome, numerics=numerics)


def layers(*outcomes: Outcome) -> list[Attempt]:
    """Return an attempt for each layer."""
    return [
        Attempt(name=row.name, kind="layer", outcome=outcome)
        for row, outcome in zip(LAYERS, outcomes, strict=True)
    ]


def switch(outcome: Outcome) -> Attempt:
    """Return an attempt with precision casts emulated."""
    return Attempt(name=CASTS.name, kind="switch", means=CASTS.means, outcome=outcome)


def told(*attempts: Attempt) -> Explanation:
    """Return the explanation of some attempts."""
    return explain(attempts, case="one", device="cpu", torch="2.14.0")


def test_agreement_needs_no_switch() -> None:
    """Equal outputs end with 0 and one sentence."""
    found = told(first("agrees"))
    assert (found.agrees, found.exit_code, found.closed_by) == (True, 0, ())
    assert found.verdict.startswith("The outputs agree")


def test_a_switch_that_closes_the_gap_is_named() -> None:
    """With what it means, and with the layer that made the difference."""
    found = told(first("differs"), *layers("agrees", "agrees", "agrees"), switch("agrees"))
    assert (found.closed_by, found.layer, found.exit_code) == ((CASTS.name,), "inductor", 0)
    assert CASTS.means in found.verdict


@pytest.mark.parametrize("outcome", ["differs", "unavailable", "already-set", "failed"])
def test_no_other_outcome_explains(outcome: Outcome) -> None:
    """A switch that was not tried, or failed, closes nothing."""
    found = told(first("differs"), *layers("agrees", "agrees", "agrees"), switch(outcome))
    assert (found.closed_by, found.exit_code) == ((), 1)
    assert "no switch" in found.verdict


def test_the_first_layer_that_differs_is_named() -> None:
    """Later ones differ because of it."""
    found = told(first("differs"), *layers("agrees", "differs", "differs"))
    assert found.layer == LAYERS[1].name
    assert LAYERS[1].name in found.verdict


def test_a_layer_that_failed_leaves_the_place_open() -> None:
    """Where one was not compared, Inductor is not blamed."""
    assert told(first("differs"), *layers("agrees", "failed", "agrees")).layer == ""


@pytest.mark.parametrize(
    ("left", "right", "words"),
    [(2.0, 1.0, "The compiled outputs are nearer"), (1.0, 2.0, "The eager outputs are nearer")],
)
def test_says_which_side_is_nearer_to_float64(left: float, right: float, words: str) -> None:
    """A difference alone does not say who is right."""
    assert words in told(first("differs", left, right)).verdict
