"""What was not rewritten, and why. In: a Run with its facts and rewrites. Out: near misses of rules."""

from compdiff.missed.engine import find_missed
from compdiff.missed.why_not import why_not

__all__ = ["find_missed", "why_not"]
