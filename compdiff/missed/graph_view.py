"""One FX graph to walk in. In: a CompiledGraph at a stage. Out: nodes by name, their users, their names in sentences."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files

from compdiff.align.inlined import NOT_COMPUTING
from compdiff.align.lineage import NodeRef
from compdiff.align.op_names import is_view_name
from compdiff.model import CompiledGraph, Graph, GraphNode, TensorMeta
from compdiff.rewrites.facts import Facts
from compdiff.tensor_text import shape_text

_MOST_NAMES = 3


@lru_cache(maxsize=1)
def pointwise_ops() -> frozenset[str]:
    """Return the overloads that torch tags as pointwise, as FX graphs name them: `aten.add.Tensor`."""
    text = files("compdiff.missed").joinpath("pointwise_ops.txt").read_text(encoding="utf-8")
    return frozenset(line for line in text.splitlines() if line and not line.startswith("#"))


def is_view_target(target: str) -> bool:
    """Return whether a node of this target only looks at memory in another way, or takes one of several results."""
    space, _, rest = target.partition(".")
    return target in NOT_COMPUTING or is_view_name(f"{space}::{rest.partition('.')[0]}")


def op_of(node: GraphNode) -> str:
    """Return a node's op without its overload, as op calls are named: `aten::add`; of a decomposed op that one."""
    parts = (node.original_aten or node.target).split(".")
    return f"{parts[0]}::{parts[1]}" if len(parts) == 3 else node.target.rpartition(".")[2]  # noqa: PLR2004 (space, op, overload)


@dataclass(frozen=True)
class GraphView:
    """A graph of one compilation, at one stage."""

    compiled: CompiledGraph
    graph: Graph

    @cached_property
    def nodes(self) -> dict[str, GraphNode]:
        """Nodes by name, in graph order."""
        return {node.name: node for node in self.graph.nodes}

    @cached_property
    def users(self) -> dict[str, tuple[str, ...]]:
        """For each node, the names of those that take it, each once, in graph order."""
        found: dict[str, list[str]] = defaultdict(list)
        for node in self.graph.nodes:
            for name in dict.fromkeys(node.inputs):
                found[name].append(node.name)
        return {name: tuple(found[name]) for name in self.nodes}

    def of_op(self, *targets: str) -> list[GraphNode]:
        """Return the nodes with one of these targets, in graph order."""
        return [node for node in self.graph.nodes if node.target in targets]

    def tensor(self, name: str) -> TensorMeta | None:
        """Return what a node gives, if that is one known tensor."""
        node = self.nodes.get(name)
        return node.outputs[0] if node is not None and len(node.outputs) == 1 else None

    def shape(self, name: str) -> str:
        """Return dtype and shape of what a node gives: `f32[2, 3]`."""
        meta = self.tensor(name)
        return shape_text(meta) if meta is not None else "no tensor"

    def text(self, name: str) -> str:
        """Return what to call a node in a sentence: `aten::mm (mm)`, `the graph's input arg0_1`, `the output`."""
        node = self.nodes[name]
        if node.op == "placeholder":
            return f"the graph's input {name}"
        if node.op == "output":
            return "the graph's output"
        return f"{op_of(node)} ({name})"

    def joint_origins(self, facts: Facts, name: str) -> frozenset[str]:
        """Return the joint nodes whose work a node does: itself, in a joint graph."""
        if self.graph.stage == "joint":
            return frozenset([name])
        ref = NodeRef(self.compiled.id, name)
        return facts.alignment.lineage.joint_origins(self.compiled.compile_id, ref)

    def operands(self, node: GraphNode) -> tuple[str, ...]:
        """Return the nodes that a node takes, in the order of its arguments, a node taken twice named twice."""
        words = node.arguments.split(", ")
        return tuple(word for word in words if word in self.nodes) or node.inputs

    def texts(self, names: Sequence[str]) -> str:
        """Return nodes as a list, the first ones in full."""
        shown = [self.text(name) for name in names[:_MOST_NAMES]]
        more = len(names) - len(shown)
        return ", ".join(shown) + (f" and {more} more" if more > 0 else "")

    def is_view(self, name: str) -> bool:
        """Return whether a node only looks at memory in another way."""
        return is_view_target(self.nodes[name].target)

    def is_pointwise(self, name: str) -> bool:
        """Return whether a node is pointwise, or a view that only pointwise nodes take.

        Source: is_pointwise_use, torch/_inductor/utils.py (torch 2.14).
        """
        if self.is_view(name):
            return all(self.is_pointwise(user) for user in self.users[name])
        return self.nodes[name].target in pointwise_ops()
