"""What rules mean, for readers of a page. In: nothing. Out: sentences, from the tables that `compdiff explain` prints."""

from functools import lru_cache

import msgspec

from compdiff.rewrites import RULES
from compdiff.rewrites.comparison_rules import COMPARISON_RULES


class Explanation(msgspec.Struct, frozen=True):
    """What a rule says of any case: why it is, where torch does it, which case shows it; "" for rules between two runs."""

    why: str
    source: str = ""
    case: str = ""


@lru_cache(maxsize=1)
def explanations() -> dict[str, Explanation]:
    """Return the explanations of all rules by name."""
    known = {rule.name: Explanation(rule.why, rule.source, rule.case) for rule in RULES}
    return known | {rule.name: Explanation(rule.why) for rule in COMPARISON_RULES}
