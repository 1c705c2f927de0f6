"""Compiler passes as events. In: node names as passes make, remove and replace them. Out: PassEvent records.

A pass may run inside another (`pass_pattern_2` > `pattern_matcher` > one pattern): each change is reported once, by
the innermost that saw it.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from torch.fx import Graph as FxGraph
from torch.fx import Node

from compdiff.capture.arguments import argument_text
from compdiff.capture.graphs import DynamoNames, node_record
from compdiff.model import GraphNode, PassEvent

_ANONYMOUS_PASSES = frozenset({"pattern_matcher"})


class Journal(set[str]):
    """A set of node names that remembers the order in which they came."""

    def __init__(self) -> None:
        super().__init__()
        self.order: list[str] = []

    def add(self, name: str) -> None:
        """Add a name, noting its place in the order."""
        super().add(name)
        self.order.append(name)


@dataclass
class OpenPass:
    """A pass that is running. `nodes` are those of its graph at the start, `live` those it has now."""

    name: str
    nodes: Mapping[str, Node]
    live: Mapping[str, Node]
    created: Journal = field(default_factory=Journal)
    removed: Journal = field(default_factory=Journal)
    replaced: dict[str, str] = field(default_factory=dict)
    reported: set[str] = field(default_factory=set)

    def mark(self) -> tuple[int, int]:
        """Return a position in the journals, for `since`."""
        return len(self.created.order), len(self.removed.order)

    def since(self, mark: tuple[int, int]) -> tuple[list[str], list[str]]:
        """Return the names (created, removed) since `mark` that no inner pass has reported."""
        created = [name for name in self.created.order[mark[0] :] if name not in self.reported]
        removed = [name for name in self.removed.order[mark[1] :] if name not in self.reported]
        both = set(created) & set(removed)
        return [n for n in created if n not in both], [n for n in removed if n not in both]


@dataclass
class PassLog:
    """The passes that are open now, outermost first, and where finished events go."""

    emit: Callable[[PassEvent], None]
    stage: Callable[[], str]
    dynamo_names: Callable[[], DynamoNames]
    open: list[OpenPass] = field(default_factory=list)

    def finish(self, opened: OpenPass) -> None:
        """Report what `opened` did and its inner passes have not reported, and close it."""
        self.open.remove(opened)
        self.report(opened, (0, 0))

    def report(
        self,
        opened: OpenPass,
        mark: tuple[int, int],
        *,
        pattern: str = "",
        location: str = "",
        before: Mapping[str, GraphNode] | None = None,
    ) -> None:
        """Emit one event for all that `opened` did since `mark`; `before` describes nodes that may be gone now."""
        created, removed = opened.since(mark)
        if not created and not removed:
            return
        for outer in (*self.open, opened):
            outer.reported.update(created, removed)
        self.emit(
            PassEvent(
                stage=self.stage(),
                pass_name=self._name(opened),
                pattern=pattern,
                location=location,
                removed=self._records(removed, opened.nodes, before or {}),
                created=self._records(created, opened.live, {}),
                replacements={
                    name: opened.replaced[name] for name in removed if name in opened.replaced
                },
            )
        )

    def _name(self, opened: OpenPass) -> str:
        if opened.name not in _ANONYMOUS_PASSES:
            return opened.name
        return next(
            (outer.name for outer in reversed(self.open) if outer.name not in _ANONYMOUS_PASSES),
            opened.name,
        )

    def _records(
        self, names: Sequence[str], nodes: Mapping[str, Node], known: Mapping[str, GraphNode]
    ) -> tuple[GraphNode, ...]:
        records = []
        for name in names:
            if name in known:
                records.append(known[name])
            elif name in nodes:
                records.append(node_record(nodes[name], self.dynamo_names()))
            else:
                records.append(GraphNode(name=name, op="", target=""))
        return tuple(records)


def merged_duplicates(before: FxGraph, after: FxGraph) -> dict[str, str]:
    """Return {removed node: equal node that stays} for two versions of a graph, the second without duplicates."""
    kept = {node.name for node in after.nodes}
    first_of: dict[tuple[str, str], str] = {}
    stands_for: dict[Node, str] = {}
    merged: dict[str, str] = {}
    for node in before.nodes:
        key = (str(node.target), _key_text(node, stands_for))
        twin = first_of.setdefault(key, node.name) if node.op == "call_function" else node.name
        if node.name not in kept and twin != node.name:
            merged[node.name] = twin
        stands_for[node] = merged.get(node.name, node.name)
    return merged


def _key_text(node: Node, stands_for: Mapping[Node, str]) -> str:
    args = tuple(_substituted(value, stands_for) for value in node.args)
    kwargs = {key: _substituted(value, stands_for) for key, value in node.kwargs.items()}
    return argument_text(args, kwargs)


def _substituted(value: object, stands_for: Mapping[Node, str]) -> object:
    if isinstance(value, Node):
        return stands_for.get(value, value.name)
    if isinstance(value, (list, tuple)):
        return [_substituted(item, stands_for) for item in value]
    return value


def pattern_identity(entry: object) -> tuple[str, str]:
    """Return (name, place in torch) of a pattern: its handler, or the function that was searched for."""
    handler = getattr(entry, "handler", None)
    if handler is None:
        # A replacement's check is a closure of register_replacement, which holds the function it searches for.
        check = getattr(entry, "extra_check", None)
        cells = inspect.getclosurevars(check).nonlocals if inspect.isfunction(check) else {}
        handler = cells.get("search_fn")
    name = (
        getattr(entry, "pattern_name", None)
        or getattr(handler, "__name__", None)
        or type(entry).__name__
    )
    code = getattr(inspect.unwrap(handler), "__code__", None) if callable(handler) else None
    if code is None:
        return name, ""
    _, found, path = code.co_filename.rpartition("/torch/")
    return name, f"torch/{path}:{code.co_firstlineno}" if found else ""
