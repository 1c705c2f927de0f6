"""Tests of compdiff.missed.why_not, on golden runs."""

from pathlib import Path

import pytest

from compdiff.analysis import analyse, asked
from compdiff.missed import why_not
from compdiff.model import Diff, Run, WhyNot
from compdiff.rewrites import RULE_NAMES
from compdiff.store import read_run
from tests.builders import capture, diff, op, run

GOLDEN = Path(__file__).resolve().parents[1] / "golden"


def golden(name: str) -> tuple[Run, Diff]:
    """Return a golden run with its diff."""
    found = read_run(GOLDEN / f"{name}.run.json.gz")
    return found, analyse(found)


def answer(name: str, rule: str) -> WhyNot:
    """Return why a rule did not apply in a golden run."""
    return why_not(*golden(name), rule)


def test_where_it_applied_is_said() -> None:
    """The rewrite is named, and there is no other place."""
    told = answer("cpu/linear", "mm-add-to-addmm")
    assert told.applied == ("r1",)
    assert (told.missed, told.nothing) == ((), "")


def test_a_near_miss_names_the_condition_and_the_line() -> None:
    """The product of matmul_add_gelu has two users, both additions."""
    told = answer("cpu/matmul_add_gelu", "mm-add-to-addmm")
    missed, other = told.missed
    assert missed.condition == other.condition == "product_has_one_user"
    assert "2 users: aten::add (add), aten::add (add_2)" in missed.why
    assert missed.left == ("e0", "e1")
    assert missed.source.endswith("matmul_add_gelu.py:22")
    assert told.applied == ()


@pytest.mark.parametrize(
    ("name", "rule", "nothing"),
    [
        ("cpu/softmax", "mm-add-to-addmm", "no aten::mm or aten::bmm in the case"),
        ("cpu/mlp_geglu", "mm-add-to-addmm", "no aten::mm followed by an addition in the case"),
        ("cpu/linear", "addmm-unfused-bias", ""),
        ("cpu/linear", "view-elimination", "no view in the case"),
        (
            "cpu/linear",
            "embedding-lowered",
            "no aten::embedding or aten::embedding_dense_backward in the case",
        ),
        (
            "cpu/linear",
            "dtype-roundtrip-removed",
            (
                "it applied nowhere, and compdiff does not know what it asks of a place: see "
                "torch/_inductor/fx_passes/joint_graph.py: pointless_convert"
            ),
        ),
    ],
)
def test_what_the_case_lacks_is_said(name: str, rule: str, nothing: str) -> None:
    """No place of its kind: the op that is not there, or the kind of place."""
    assert answer(name, rule).nothing == nothing


def test_a_batch_norm_in_training_is_told() -> None:
    """conv_training does not fold it; conv_bn_unfrozen is not frozen."""
    assert (
        answer("cpu/conv_training", "conv-bn-folded").missed[0].condition == "norm_is_in_eval_mode"
    )
    assert (
        answer("cpu/conv_bn_unfrozen", "conv-bn-folded").missed[0].condition == "weights_are_frozen"
    )
    assert answer("cpu/conv_bn_relu", "conv-bn-folded").missed == ()


def test_what_another_rule_explains_is_said_so() -> None:
    """The empty tensor of conv_training is dead code before it is an allocation."""
    (missed,) = answer("cpu/conv_training", "allocation-planned").missed
    assert missed.why == "dead-code (r2) explains aten::empty (e2) already: it comes first."


@pytest.mark.parametrize("rule", sorted(RULE_NAMES))
@pytest.mark.parametrize(
    "name", ["cpu/training_step", "h200/training_step", "cpu/attention_manual"]
)
def test_every_rule_has_an_answer(name: str, rule: str) -> None:
    """It applied, nearly did, or has nothing of its kind; every place has a sentence and op calls."""
    told = answer(name, rule)
    assert bool(told.nothing) != bool(told.applied or told.missed)
    assert all(one.why.endswith(".") and one.left for one in told.missed)


def test_places_do_not_overlap_with_what_the_rule_explains() -> None:
    """An op call is either claimed by the rule or a near miss of it."""
    measured, found = golden("h200/training_step")
    for rule in RULE_NAMES:
        claimed = {op for it in found.rewrites if it.rule == rule for op in it.left}
        told = why_not(measured, found, rule)
        alone = [one for one in told.missed if len(one.left) == 1]
        assert not claimed & {one.left[0] for one in alone}, rule


def test_an_imported_trace_has_no_graphs_to_look_at() -> None:
    """Without a compiler's account that is the answer."""
    imported = run(capture("eager", (op(0, "aten::mm"),)), capture("compiled"))
    told = why_not(imported, diff({"e0": ("kept", "")}, {}), "mm-add-to-addmm")
    assert told.nothing.startswith("no compiler tells what it did")


def test_the_answer_is_a_part_of_the_diff() -> None:
    """Asking for no rule changes nothing."""
    measured, found = golden("cpu/linear")
    assert asked(measured, found, "") == found
    told = asked(measured, found, "mm-add-to-addmm").why_not
    assert told is not None
    assert told.applied == ("r1",)
