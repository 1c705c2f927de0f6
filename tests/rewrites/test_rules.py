"""Tests over the table of rules."""

import re
from pathlib import Path

import pytest

import compdiff
from compdiff.rewrites import RULE_NAMES, RULES
from compdiff.rewrites.rule import Rule

_REQUIRED = {
    "mm-add-to-addmm", "addmm-unfused-bias", "pointwise-fusion", "reduction-fusion", "view-elimination",
    "decomposition", "online-softmax", "sdpa-pattern", "dtype-roundtrip-removed", "noop-removed",
    "common-subexpression", "dead-code", "constant-folded", "conv-bn-folded", "mutation-functionalized",
    "rng-replaced", "embedding-lowered", "loss-fused",
}  # fmt: skip


def _cases() -> Path:
    package = Path(compdiff.__file__).parent
    inside = package / "cases"
    return inside if inside.is_dir() else package.parent / "cases"


def test_required_rules_exist() -> None:
    """The names that reports and lock files rely on are there."""
    assert _REQUIRED <= RULE_NAMES


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.name}-{rule.scope}")
def test_row_is_complete(rule: Rule) -> None:
    """Each row has a kebab-case name, a sentence, a source in torch and a case that exists."""
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", rule.name)
    assert rule.why.endswith(".")
    assert rule.source.startswith("torch/")
    assert len(list(_cases().rglob(f"{rule.case}.py"))) == 1


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.name}-{rule.scope}")
def test_row_says_when_it_applies(rule: Rule) -> None:
    """A pass rule has patterns, an op rule a condition, and maybe patterns of events to cite; a kernel rule neither."""
    assert bool(rule.passes) or rule.scope != "pass"
    assert not rule.passes or rule.scope in {"pass", "op"}
    assert rule.scope != "op" or rule.when
    for pattern in rule.passes:
        re.compile(pattern)


def test_rows_of_one_name_agree() -> None:
    """Two rows with one name are two ways to see one rewrite: same fate, another scope or condition."""
    seen: dict[str, Rule] = {}
    for rule in RULES:
        other = seen.setdefault(rule.name, rule)
        ways = {(other.scope, other.when), (rule.scope, rule.when)}
        assert other is rule or (other.fate == rule.fate and len(ways) > 1)
