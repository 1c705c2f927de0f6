"""Findings. In: a run and its diff. Out: the diff with diagnoses, by a table of rules."""

from compdiff.findings.engine import find

__all__ = ["find"]
