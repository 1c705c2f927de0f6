"""Tests over the table of comparison rules."""

import re
import string

import pytest

from compdiff.rewrites import RULE_NAMES
from compdiff.rewrites.comparison_rules import COMPARISON_RULES, ComparisonRule

_COUNTS = {f"{side}-{count}" for side in ("left", "right") for count in ("none", "one", "many")}
_FACTS = _COUNTS | {
    "left-generated", "right-generated", "same-work", "more-work", "less-work", "same-name", "introduced",
    "not-in-case", "itself", "done-elsewhere",
}  # fmt: skip
_FIELDS = {
    "left", "right", "left_parts", "right_parts", "left_kernels", "right_kernels", "work", "extra", "missing", "reason",
}  # fmt: skip


@pytest.mark.parametrize("rule", COMPARISON_RULES, ids=lambda rule: rule.name)
def test_row_is_complete(rule: ComparisonRule) -> None:
    """Each row has a kebab-case name, known facts and fields, and two sentences."""
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", rule.name)
    assert rule.when <= _FACTS
    assert {field for _, field, _, _ in string.Formatter().parse(rule.text) if field} <= _FIELDS
    assert rule.text.endswith(".")
    assert rule.why.endswith(".")


def test_names_are_unique() -> None:
    """A name is one comparison rule, and no rule of a single run."""
    names = [rule.name for rule in COMPARISON_RULES]
    assert len(set(names)) == len(names)
    assert not set(names) & RULE_NAMES


def test_every_row_can_match() -> None:
    """No row stands after one that asks for less."""
    for index, rule in enumerate(COMPARISON_RULES):
        assert not any(earlier.when <= rule.when for earlier in COMPARISON_RULES[:index])


def test_the_last_row_takes_the_rest() -> None:
    """Every group has a rule."""
    assert COMPARISON_RULES[-1].when == frozenset()
