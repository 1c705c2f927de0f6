"""`compdiff numerics`."""

import json
from pathlib import Path

import pytest

from compdiff.cli import run_command
from compdiff.cli.numerics import switched
from compdiff.model import CaseSpec, CompileOptions, OutputCheck, Request
from compdiff.precision.switches import LAYERS, SWITCHES

CASES = Path(__file__).parents[2] / "cases"
SPEC = CaseSpec(name="one", path="one.py", form="fn")


def test_one_tolerance_alone_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    """Half a tolerance would leave the other half to a guess."""
    assert run_command(["numerics", "none.py", "--rtol", "0.1"]) == 2
    assert "--atol" in capsys.readouterr().err


def test_several_cases_are_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    """One is explained at a time, and the others are named."""
    assert run_command(["numerics", str(CASES / "reductions"), "--device", "cpu"]) == 2
    assert "-k" in capsys.readouterr().err


def test_a_switch_keeps_all_else() -> None:
    """The tolerance, the seed and the user's options are those of the case as asked."""
    request = Request(
        spec=SPEC,
        device="cpu",
        options=CompileOptions(dynamic=True),
        seed=7,
        check=OutputCheck(rtol=0.1, atol=0.2),
    )
    found = switched(request, SWITCHES[0])
    assert found.check == OutputCheck(options=SWITCHES[0].options, rtol=0.1, atol=0.2)
    assert (found.options, found.seed) == (request.options, 7)
    assert switched(request, LAYERS[0]).options.backend == LAYERS[0].backend


@pytest.mark.measured
def test_casts_that_were_left_out_are_named(tmp_path: Path) -> None:
    """The real thing: a chain in bfloat16, and the one switch that makes Inductor round as eager mode does."""
    file = tmp_path / "found.json"
    case = str(CASES / "numerics" / "casts_left_out.py")
    assert run_command(["numerics", case, "--device", "cpu", "--json", str(file)]) == 0
    found = json.loads(file.read_text())
    assert found["closed_by"] == ["emulate_precision_casts=True"]
    assert found["layer"] == "inductor"
    assert not found["agrees"]


@pytest.mark.measured
def test_other_random_numbers_are_named(tmp_path: Path) -> None:
    """Dropout: with the random numbers of eager mode the outputs agree."""
    file = tmp_path / "found.json"
    case = str(CASES / "dropout.py")
    assert run_command(["numerics", case, "--device", "cpu", "--json", str(file)]) == 0
    assert "fallback_random=True" in json.loads(file.read_text())["closed_by"]


@pytest.mark.measured
def test_agreement_ends_at_once(capfd: pytest.CaptureFixture[str]) -> None:
    """No switch is tried where there is nothing to explain."""
    assert run_command(["numerics", str(CASES / "linear.py"), "--device", "cpu"]) == 0
    shown = capfd.readouterr()
    assert "agree" in shown.out
    assert "backend=eager" not in shown.err
