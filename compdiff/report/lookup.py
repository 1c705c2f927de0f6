"""Finds the items of a run by their id. In: Run, Diff. Out: Lookup, which every page part reads instead of searching.

`e3` left op call, `ek0` left kernel, `c2` right op call, `k0` right kernel: see `compdiff.align.items`.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

import msgspec

from compdiff.align.items import left_kernel, left_op, right_kernel, right_op
from compdiff.model import (
    Capture,
    Compiler,
    Diff,
    Fate,
    Kernel,
    Match,
    OpCall,
    Origin,
    Rewrite,
    Run,
    SourceLocation,
)
from compdiff.report.naming import counted_text, op_name

_NO_FATE = Fate(fate="unexplained", why="the diff names no fate for this op call")
_NO_ORIGIN = Origin()


class Ref(msgspec.Struct, frozen=True, gc=False):
    """A link to an item: its anchor without `#`, and its name."""

    id: str
    name: str


@dataclass(frozen=True)
class Lookup:
    """A run and its diff with their items by id, each table made once."""

    run: Run
    diff: Diff

    @cached_property
    def left_ops(self) -> dict[str, OpCall]:
        """Left op calls by item id, in capture order."""
        return {left_op(call.id): call for call in self.run.left.op_calls}

    @cached_property
    def right_ops(self) -> dict[str, OpCall]:
        """Right op calls by item id, in capture order."""
        return {right_op(call.id): call for call in self.run.right.op_calls}

    @cached_property
    def left_kernels(self) -> dict[str, Kernel]:
        """Left kernels by item id, in capture order."""
        return {left_kernel(kernel.id): kernel for kernel in self.run.left.kernels}

    @cached_property
    def right_kernels(self) -> dict[str, Kernel]:
        """Right kernels by item id, in capture order."""
        return {right_kernel(kernel.id): kernel for kernel in self.run.right.kernels}

    @cached_property
    def left_items(self) -> dict[str, OpCall | Kernel]:
        """Left items that have a fate: op calls in capture order; in a comparison kernels too, in the order they ran."""
        if self.diff.comparison is None:
            return dict(self.left_ops)
        known: dict[str, OpCall | Kernel] = {**self.left_ops, **self.left_kernels}
        ran = (item.replace("c", "e").replace("k", "ek") for item in _ran(self.run.left))
        return {
            item: known[item] for item in dict.fromkeys([*ran, *known]) if item in self.diff.fates
        }

    def source(self, item: str) -> SourceLocation | None:
        """Return the line that made a left item; in a comparison that of the last eager op call whose work it does."""
        if self.diff.comparison is not None:
            return self.diff.comparison.sources.get(item)
        return self.left_ops[item].source

    def work(self, item: str) -> str:
        """Return the eager op calls whose work an item of a comparison does; "" for an eager op call itself."""
        work = self.diff.comparison.work.get(item, ()) if self.diff.comparison else ()
        plain = [name.partition(".")[0] for name in (*work, self.names[item])]
        return "" if len(plain) == 2 and plain[0] == plain[1] else counted_text(work)  # noqa: PLR2004 (one, and itself)

    @cached_property
    def names(self) -> dict[str, str]:
        """The name of every item of both sides, by id."""
        ops = {**self.left_ops, **self.right_ops}
        kernels = {**self.left_kernels, **self.right_kernels}
        return {
            **{item: op_name(call) for item, call in ops.items()},
            **{item: kernel.name for item, kernel in kernels.items()},
        }

    @cached_property
    def launched_left(self) -> dict[str, tuple[str, ...]]:
        """The left kernels that each left op call launched, by item id."""
        return _launched(self.left_kernels, left_op)

    @cached_property
    def launched_right(self) -> dict[str, tuple[str, ...]]:
        """The right kernels that each right op call launched, by item id."""
        return _launched(self.right_kernels, right_op)

    @cached_property
    def made_from(self) -> dict[str, tuple[str, ...]]:
        """For each left op call, the right items that do its work, in the order in which they ran."""
        found: dict[str, list[str]] = defaultdict(list)
        for item in self.right_order:
            for op in self.origin(item).op_calls:
                found[op].append(item)
        return {op: tuple(items) for op, items in found.items()}

    @cached_property
    def right_order(self) -> tuple[str, ...]:
        """All right items in the order in which they ran; kernels directly after the op call that launched them."""
        units = _ran(self.run.right)
        ordered = [item for unit in units for item in (unit, *self.launched_right.get(unit, ()))]
        known = {**self.right_ops, **self.right_kernels}
        return tuple(item for item in dict.fromkeys([*ordered, *known]) if item in known)

    @cached_property
    def matched(self) -> dict[str, Match]:
        """The first match of each item, either side, by id."""
        found: dict[str, Match] = {}
        for match in self.diff.matches:
            for item in (*match.left, *match.right):
                found.setdefault(item, match)
        return found

    @cached_property
    def rewrites_of(self) -> dict[str, tuple[str, ...]]:
        """For each item, the ids of the rewrites that name it, in order."""
        found: dict[str, list[str]] = defaultdict(list)
        for rewrite in self.diff.rewrites:
            for item in dict.fromkeys((*rewrite.left, *rewrite.right, *rewrite.shared)):
                found[item].append(rewrite.id)
        return {item: tuple(ids) for item, ids in found.items()}

    @cached_property
    def rule_of(self) -> dict[str, str]:
        """The rule of each rewrite, by rewrite id."""
        return {rewrite.id: rewrite.rule for rewrite in self.diff.rewrites}

    @cached_property
    def rewrite_by_id(self) -> dict[str, Rewrite]:
        """Rewrites by id."""
        return {rewrite.id: rewrite for rewrite in self.diff.rewrites}

    @cached_property
    def code_of(self) -> dict[tuple[str, int, int], str]:
        """The anchors of generated kernels' code, by their prefix (`left-` or none), graph and wrapper call."""
        sides = (("left-", self.run.left.compiler), ("", self.run.right.compiler))
        return {
            (prefix, graph, call): anchor
            for prefix, compiler in sides
            for (graph, call), anchor in code_anchors(compiler, prefix).items()
        }

    def code_anchor(self, kernel_id: str) -> str:
        """Return the anchor of a kernel's generated code, either side's, or "" when there is none."""
        prefix = "left-" if kernel_id in self.left_kernels else ""
        kernel = (self.left_kernels if prefix else self.right_kernels)[kernel_id]
        if kernel.graph is None or kernel.call is None:
            return ""
        return self.code_of.get((prefix, kernel.graph, kernel.call), "")

    def code_text(self, kernel_id: str) -> str:
        """Return the generated code of a kernel, either side's, or "" when there is none."""
        is_left = kernel_id in self.left_kernels
        kernel = (self.left_kernels if is_left else self.right_kernels)[kernel_id]
        compiler = (self.run.left if is_left else self.run.right).compiler
        graphs = compiler.graphs if compiler else ()
        calls = (call for graph in graphs if graph.id == kernel.graph for call in graph.calls)
        return next((call.code for call in calls if call.index == kernel.call), "")

    def fate(self, item: str) -> Fate:
        """Return the fate of a left op call; one that the diff does not name is unexplained."""
        return self.diff.fates.get(item, _NO_FATE)

    def origin(self, item: str) -> Origin:
        """Return the origin of a right item; one that the diff does not name is unexplained."""
        return self.diff.origins.get(item, _NO_ORIGIN)

    def ref(self, item: str) -> Ref:
        """Return a link to an item or a rewrite; an id that names nothing in this run keeps its id as name."""
        return Ref(item, self.names.get(item) or self.rule_of.get(item) or item)

    def refs(self, items: Iterable[str]) -> tuple[Ref, ...]:
        """Return links to the items that this run knows, in the order given."""
        return tuple(self.ref(item) for item in items if item in self.names or item in self.rule_of)


def code_anchors(compiler: Compiler | None, prefix: str) -> dict[tuple[int, int], str]:
    """Return the anchor of the code of each wrapper call that has any, by graph and call; equal code has one anchor."""
    first: dict[str, str] = {}
    return {
        (graph.id, call.index): first.setdefault(call.code, f"{prefix}code-{graph.id}-{call.index}")
        for graph in (compiler.graphs if compiler else ())
        for call in graph.calls
        if call.code
    }


def is_unexplained(origin: Origin) -> bool:
    """Return whether nothing says where a right item came from."""
    return not origin.op_calls and not origin.introduced


def _launched(
    kernels: dict[str, Kernel], op_id: Callable[[int], str]
) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = defaultdict(list)
    for item, kernel in kernels.items():
        if kernel.op_call is not None:
            found[op_id(kernel.op_call)].append(item)
    return {op: tuple(items) for op, items in found.items()}


def _ran(capture: Capture) -> list[str]:
    """Return the right items named by the capture's call order, which writes op calls as `o3`."""
    return [f"c{name[1:]}" if name.startswith("o") else name for name in capture.call_order]
