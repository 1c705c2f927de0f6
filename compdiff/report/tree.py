"""All of a run as a tree in the terminal (`--format text`). In: Page. Out: a rich renderable.

A branch is what belongs together: eager op calls, the rewrite that explains them, and the compiled items they became.
Outside strings become `Text` with control characters spelled out, as in `terminal`.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from rich.console import Group as Lines
from rich.console import RenderableType
from rich.text import Text
from rich.tree import Tree

from compdiff.report.lookup import Ref
from compdiff.report.naming import clipped, printable
from compdiff.report.rows import Group, LeftOp, RightItem, SourceLine
from compdiff.report.terminal import closing_lines, sum_lines, title_lines
from compdiff.report.view import Page

# What became of an op call has a word, so that the colour says nothing that is not written.
_STYLES = {
    "kept": "default",
    "rewritten": "cyan",
    "decomposed": "magenta",
    "fused": "green",
    "eliminated": "blue",
    "folded": "blue",
    "removed": "yellow",
    "introduced": "yellow",
    "mixed": "cyan",
    "unexplained": "bold red",
}
_CODE_LENGTH = 80
_TYPES_LENGTH = 160


def terminal_tree(page: Page, report: Path | None = None) -> RenderableType:
    """Return every eager op call with what it became, by phase where there are two, then sums, findings and failures."""
    tree = Tree(Text(_sides(page), style="dim"), guide_style="dim")
    phases = [(phase, list(groups)) for phase, groups in groupby(page.rows, key=_phase)]
    for phase, groups in phases:
        branch = tree if len(phases) == 1 else tree.add(Text(phase, style="bold"))
        for group in groups:
            _add_group(branch, group)
    sums = [Text(printable(f"  {text}")) for text in sum_lines(page)]
    return Lines(title_lines(page), tree, *sums, *closing_lines(page, report))


def _sides(page: Page) -> str:
    return printable(f"{page.head.left_label} => {page.head.right_label}")


def _phase(group: Group) -> str:
    return group.phase


def _add_group(tree: Tree, group: Group) -> None:
    branch = tree.add(_heading(group))
    for block in group.blocks:
        for op in block.ops:
            _add_op(branch, op, block.source, mixed=group.fate == "mixed")
    for item in group.items:
        _add_item(branch, item)
    for ref in group.elsewhere:
        branch.add(Text(printable(f"=> {ref.id} {ref.name}, shown elsewhere"), style="dim"))


def _heading(group: Group) -> Text:
    """Return the fate that the op calls share, and the rewrites that explain them."""
    style = _STYLES.get(group.fate, "default")
    rewrites = dict.fromkeys(_named(op.rewrite) for op in _ops(group) if op.rewrite is not None)
    heading = Text(group.fate, style=style)
    return (
        heading.append(printable(f"  {', '.join(rewrites)}"), style="bold") if rewrites else heading
    )


def _ops(group: Group) -> Iterator[LeftOp]:
    for block in group.blocks:
        yield from block.ops


def _add_op(branch: Tree, op: LeftOp, source: SourceLine | None, *, mixed: bool) -> None:
    line = _item(op.id, op.name, op.arguments, op.outputs)
    if mixed:
        line.append(f"  {op.fate}", style=_STYLES.get(op.fate, "default"))
    if source is not None:
        line.append(printable(f"  {source.place}"), style="bold")
        line.append(printable(f" {clipped(source.marked, _CODE_LENGTH)}"), style="dim")
    node = branch.add(line)
    for text in (op.certainty and f"match: {op.certainty}", op.why):
        if text:
            node.add(Text(printable(text), style="dim"))
    _add_refs(node, op.kernels)


def _add_item(branch: Tree, item: RightItem, arrow: str = "=> ") -> None:
    line = Text(arrow, style="bold").append_text(
        _item(item.id, item.name, item.arguments, item.outputs)
    )
    if item.kind != "op call":
        line.append(printable(f"  {item.kind}"), style="dim")
    if item.introduced:
        line.append(printable(f"  introduced: {item.introduced}"), style=_STYLES["introduced"])
    if item.unexplained:
        line.append("  unexplained", style=_STYLES["unexplained"])
    node = branch.add(line)
    for kernel in item.nested:
        _add_item(node, kernel, arrow="")


def _add_refs(node: Tree, refs: Sequence[Ref]) -> None:
    for ref in refs:
        node.add(Text(printable(_named(ref))))


def _item(identity: str, name: str, arguments: str, outputs: str) -> Text:
    """Return an item with what it takes and gives, which of a long list is the beginning."""
    types = f" ({arguments})" if arguments else ""
    types += f" -> {outputs}" if outputs else ""
    line = Text(f"{identity} ", style="dim")
    line.append(printable(name), style="default")
    return line.append(printable(clipped(types, _TYPES_LENGTH)), style="dim")


def _named(ref: Ref) -> str:
    return f"{ref.id} {ref.name}"
