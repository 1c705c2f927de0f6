"""`compdiff explain`: what a rule or finding means."""

from typing import TYPE_CHECKING

import click

from compdiff.errors import CompdiffError

if TYPE_CHECKING:
    from compdiff.rewrites.rule import Rule


@click.command(name="explain")
@click.argument("name", required=False)
def command(name: str | None) -> int:
    """Explain the rule or finding NAME; without NAME, list all."""
    from compdiff.findings.table import FINDINGS
    from compdiff.rewrites import RULES
    from compdiff.rewrites.comparison_rules import COMPARISON_RULES

    texts = {
        rule.name: f"{rule.why}\n{_arithmetic(rule)}Fate: {rule.fate}. In torch: {rule.source}. Case: {rule.case}."
        for rule in RULES
    }
    texts |= {rule.name: f"{rule.why}\nBetween two runs." for rule in COMPARISON_RULES}
    texts |= {row.id: f"{row.means}\nTry: {row.advice}\nSource: {row.source}" for row in FINDINGS}
    if name is None:
        for known in sorted(texts):
            click.echo(f"{known:28} {texts[known].partition(chr(10))[0]}")
        return 0
    if name not in texts:
        message = f"{name}: no such rule or finding"
        raise CompdiffError(message, "compdiff explain lists all.")
    click.echo(f"{name}\n{texts[name]}")
    return 0


def _arithmetic(rule: "Rule") -> str:
    """Return a line on what the rewrite does to the numbers, nothing where that is not known to be anything."""
    return f"Numbers: {rule.arithmetic}\n" if rule.arithmetic else ""
