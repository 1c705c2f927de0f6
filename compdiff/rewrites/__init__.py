"""Rewrites and fates. In: an Alignment. Out: what the compiler did to each op call, by named rules."""

from compdiff.rewrites.engine import explain
from compdiff.rewrites.rules import RULE_NAMES, RULES

__all__ = ["RULES", "RULE_NAMES", "explain"]
