"""diff.json: the fields that scripts read, and nothing that changes from run to run but times."""

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from compdiff.model import DIFF_SCHEMA
from compdiff.report.document import encode_document
from tests.report.examples import EXAMPLES, HOSTILE, Example, geglu, linear, training
from tests.variants import planned_golden

FIELDS = {
    "schema",
    "case",
    "params",
    "left",
    "right",
    "unexplained",
    "conservation",
    "speedup",
    "verdict",
    "timing",
    "comparison",
    "rewrites",
    "missed",
    "why_not",
    "fates",
    "origins",
    "findings",
    "graph_breaks",
    "recompiles",
    "numerics",
    "environment",
}
MADE_BY = pytest.mark.parametrize("example", EXAMPLES, ids=lambda make: make.__name__)


def document(example: Example, *failures: str) -> dict[str, Any]:
    """Return an example's diff.json."""
    read: dict[str, Any] = json.loads(encode_document(*example, failures))
    return read


@MADE_BY
def test_every_field_is_there(example: Callable[[], Example]) -> None:
    """A script need not ask whether a field exists: what is unknown is null."""
    made = document(example())
    assert made["schema"] == DIFF_SCHEMA
    assert set(made) >= FIELDS


@MADE_BY
def test_same_run_same_bytes(example: Callable[[], Example]) -> None:
    """Keys are sorted and nothing reads a clock."""
    encoded = encode_document(*example(), ())
    assert encoded == encode_document(*example(), ())
    made = json.loads(encoded)
    assert list(made) == sorted(made)


def test_a_rewrite_has_what_a_check_needs() -> None:
    """Rule, both sides, source line and pass stand in it."""
    (rewrite,) = document(linear())["rewrites"]
    assert rewrite["rule"] == "mm-add-to-addmm"
    assert (rewrite["left"], rewrite["right"]) == (["e0", "e1"], ["c0"])
    assert rewrite["source"] == "/work/cases/linear.py:12"
    assert rewrite["pass"] == "post_grad: addmm"  # noqa: S105 - a compiler pass


def test_unexplained_is_counted() -> None:
    """Both sides are counted, each by itself."""
    assert document(training())["unexplained"] == {"op_calls": 1, "kernels": 1}
    assert document(geglu())["unexplained"] == {"op_calls": 0, "kernels": 0}


def test_counts_are_those_of_the_run() -> None:
    """Op calls, launches and kernels of each side."""
    run, diff = training()
    made = document(Example(run, diff))
    assert made["left"]["op_calls"] == len(run.left.op_calls)
    assert made["right"]["kernels"] == len(run.right.kernels)
    assert made["right"]["launches"] == len(run.right.launches)


def test_without_times_there_is_no_speedup() -> None:
    """Null, not one."""
    run, diff = linear()
    made = document(Example(msgspec.structs.replace(run, timing=None), diff))
    assert made["speedup"] is None
    assert made["verdict"] is None
    assert made["left"]["wall_ns"] is None


def test_times_are_intervals() -> None:
    """A median without an interval is not worth reading."""
    made = document(linear())
    low, high = made["speedup"]["ci95"]
    assert low <= made["speedup"]["median"] <= high
    assert made["left"]["wall_ns"]["median"] == pytest.approx(90_000, rel=0.1)


def test_addresses_are_left_out() -> None:
    """An object's address in a guard would differ in each run."""
    (recompile,) = document(training())["recompiles"]
    assert "0x7f00deadbeef" not in json.dumps(recompile)
    assert "<address>" in json.dumps(recompile)


def test_hostile_names_are_kept_as_they_are() -> None:
    """JSON needs no other escape than its own."""
    assert document(training())["case"] == HOSTILE


def test_a_plan_has_estimates_and_no_times() -> None:
    """Each side and each rewrite says what it is estimated to cost; what was not measured is null."""
    made = document(Example(*planned_golden("linear-size4096")))
    assert made["left"]["basis"] == "planned"
    assert made["left"]["device_ns"] is None
    assert made["speedup"] is None
    estimated = made["rewrites"][0]["estimated"]
    before, after = estimated["before"], estimated["after"]
    assert before["kernels"] == after["kernels"] == 2
    assert before["bytes_moved"] == 6 * 2 * 4096**2


def test_failed_expectations_are_listed() -> None:
    """A script sees why the exit code was 1."""
    assert "at most 2 kernels" in json.dumps(document(linear(), "expected at most 2 kernels"))


def test_what_was_missed_has_what_a_check_needs() -> None:
    """Rule, condition, op calls and cost stand in each place; nobody asked about a rule."""
    first, *_ = document(training())["missed"]
    assert (first["left"], first["right"]) == (["e0", "e1"], ["k0"])
    assert first["condition"] == "condition_0"
    assert (first["launches"], first["bytes_moved"]) == (1, 10_240)
    assert document(linear())["missed"] == []
    assert document(linear())["why_not"] is None


def test_an_answer_stands_in_the_document() -> None:
    """What applied, what nearly did, what the case lacks."""
    told = document(training())["why_not"]
    assert told["applied"] == ["r1"]
    assert [one["condition"] for one in told["missed"]] == ["condition_8"]
    assert told["nothing"] == ""
