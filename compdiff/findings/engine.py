"""Applies the table of findings. In: a run and its diff. Out: the diff with its findings."""

import msgspec

from compdiff.findings.table import FINDINGS
from compdiff.model import Diff, Finding, Run


def find(run: Run, diff: Diff) -> Diff:
    """Return `diff` with every finding of the table that the run shows, in the table's order."""
    findings = [
        Finding(
            id=row.id,
            side=seen.side,
            title=row.title,
            means=row.means,
            advice=row.advice,
            timed=row.timed,
            numbers=seen.numbers,
            items=seen.items,
        )
        for row in FINDINGS
        for seen in row.seen(run, diff)
    ]
    return msgspec.structs.replace(diff, findings=tuple(findings))
