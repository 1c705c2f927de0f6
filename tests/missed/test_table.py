"""Tests over the tables: what each condition and each reason must have."""

import inspect

import pytest

from compdiff.missed.fusion_reasons import FUSION_REASONS, FusionReason
from compdiff.missed.graph_view import is_view_target, pointwise_ops
from compdiff.missed.place import Need, Opportunity, Place
from compdiff.missed.table import OPPORTUNITIES
from compdiff.rewrites import RULE_NAMES

NEEDS = {need.name: need for row in OPPORTUNITIES for need in row.needs}


@pytest.mark.parametrize("row", OPPORTUNITIES, ids=lambda row: row.rule)
def test_each_row_speaks_of_a_rule(row: Opportunity[Place]) -> None:
    """Its rule exists, its places are found by a documented function, and it says what kind of place it looks for."""
    assert row.rule in RULE_NAMES
    assert inspect.getdoc(row.find)
    assert row.kind
    assert row.needs


@pytest.mark.parametrize("need", NEEDS.values(), ids=NEEDS)
def test_each_condition_says_why_and_where_torch_asks(need: Need[Place]) -> None:
    """A sentence, a file of torch, and a docstring that names the source."""
    assert need.otherwise.endswith(".")
    assert need.location.startswith("torch/")
    assert "Source:" in (inspect.getdoc(need.holds) or "")


@pytest.mark.parametrize("row", FUSION_REASONS, ids=lambda row: row.name)
def test_each_reason_says_why(row: FusionReason) -> None:
    """A sentence and a file of torch."""
    assert row.text.endswith(".")
    assert row.location.startswith("torch/")


def test_rules_are_unique() -> None:
    """One row for each rule."""
    rules = [row.rule for row in OPPORTUNITIES]
    assert len(rules) == len(set(rules))


def test_pointwise_ops_are_those_of_torch() -> None:
    """The list has overloads, and neither reductions nor products."""
    ops = pointwise_ops()
    assert {"aten.add.Tensor", "aten.erf.default", "prims.convert_element_type.default"} <= ops
    assert not {"aten.mm.default", "aten.sum.dim_IntList", "aten.view.default"} & ops


@pytest.mark.parametrize(
    ("target", "is_view"),
    [("aten.reshape.default", True), ("_operator.getitem", True), ("aten.clone.default", False)],
)
def test_views_are_told_by_their_target(target: str, is_view: bool) -> None:  # noqa: FBT001
    """A clone makes new memory."""
    assert is_view_target(target) == is_view
