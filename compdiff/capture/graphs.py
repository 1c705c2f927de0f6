"""FX graphs as data. In: torch.fx graphs and nodes. Out: Graph and GraphNode records.

Reads node metadata that Dynamo, AOTAutograd and Inductor leave (`from_node`, `original_aten`, `seq_nr`,
`partitioner_tag`, `stack_trace`, `val`); each is optional. Source: torch/fx/traceback.py, torch/_dynamo/output_graph.py.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.fx import GraphModule, Node

from compdiff.capture.arguments import argument_text
from compdiff.model import Graph, GraphNode, TensorMeta
from compdiff.source import innermost_user

# Its first two arguments are the graphs of its forward and its backward. Source: torch/_functorch/autograd_function.py.
_AUTOGRAD_FUNCTION = "higher_order.autograd_function_apply"


@dataclass(frozen=True, slots=True)
class DynamoNames:
    """The names of a Dynamo graph's nodes, and the node that runs each graph inside it.

    A higher-order op (a checkpoint, an autograd function, a branch) runs a graph of its own, whose names may be those of
    other nodes: `bodies` gives, for the id of such a graph, the name of the node that runs it. The backward of an autograd
    function is in `backward_bodies` instead: none of its calls is made while a node of the Dynamo graph runs.
    """

    names: frozenset[str] = frozenset()
    bodies: Mapping[int, str] = field(default_factory=dict)
    backward_bodies: frozenset[int] = frozenset()

    def in_backward_body(self, sources: Iterable[object]) -> bool:
        """Return whether provenance chains lead to the backward of an autograd function."""
        steps = (step for chain in sources for step in _chain(chain))
        return any(getattr(step, "graph_id", 0) in self.backward_bodies for step in steps)

    def of(self, sources: Iterable[object]) -> tuple[str, ...]:
        """Return the Dynamo nodes that provenance chains lead to, each once."""
        found = (
            self.bodies.get(getattr(source, "graph_id", 0), getattr(source, "name", ""))
            for chain in sources
            for source in _chain(chain)
            if getattr(source, "graph_id", 0) not in self.backward_bodies
        )
        return tuple(dict.fromkeys(name for name in found if name in self.names))


NO_NAMES = DynamoNames()


def dynamo_names(module: GraphModule) -> DynamoNames:
    """Return the names of the nodes of a Dynamo graph, and of those that run a graph inside it."""
    bodies = {
        identity: node.name
        for node in module.graph.nodes
        for source in node.all_input_nodes
        if source.op == "get_attr"
        for identity in _graphs_in(getattr(module, str(source.target), None))
    }
    backward = {
        identity
        for node in module.graph.nodes
        if target_text(node).endswith(_AUTOGRAD_FUNCTION)
        for identity in _graphs_in(getattr(module, str(node.args[1]), None))
    }
    return DynamoNames(
        frozenset(node.name for node in module.graph.nodes), bodies, frozenset(backward)
    )


def _graphs_in(body: object) -> Iterator[int]:
    modules: Iterable[Any] = body.modules() if isinstance(body, GraphModule) else ()
    return (id(module.graph) for module in modules if isinstance(module, GraphModule))


def graph_record(stage: str, module: GraphModule, names: DynamoNames = NO_NAMES) -> Graph:
    """Return the graph of `module` as data, with its printed code; `names` as in `node_record`."""
    nodes = tuple(node_record(node, names) for node in module.graph.nodes)
    return Graph(stage=stage, nodes=nodes, code=module.code.strip())


def node_record(node: Node, names: DynamoNames = NO_NAMES) -> GraphNode:
    """Return one node as data; of the nodes it came from, those of the Dynamo graph are kept."""
    meta = node.meta
    return GraphNode(
        name=node.name,
        op=node.op,
        target=target_text(node),
        inputs=tuple(source.name for source in node.all_input_nodes),
        arguments=argument_text(node.args, node.kwargs),
        outputs=tuple(_metas(meta.get("val", meta.get("example_value")))),
        dynamo_nodes=names.of(meta.get("from_node", ())),
        original_aten=str(meta.get("original_aten") or ""),
        sequence=_number(meta.get("seq_nr")),
        backward=meta.get("partitioner_tag") == "is_backward"
        or names.in_backward_body(meta.get("from_node", ())),
        source=innermost_user(meta.get("stack_trace") or ""),
    )


def target_text(node: Node) -> str:
    """Return the node's target as stable text, without addresses."""
    target = node.target
    if isinstance(target, str):
        return target
    if hasattr(target, "_schema"):  # an op of the dispatcher
        return str(target)
    module = getattr(target, "__module__", None) or ""
    name = (
        getattr(target, "__qualname__", None)
        or getattr(target, "__name__", None)
        or type(target).__name__
    )
    return f"{module}.{name}".lstrip(".")


def _number(value: object) -> int:
    return value if isinstance(value, int) else -1


def _chain(source: object) -> Iterator[object]:
    """Yield what a provenance chain holds, newest first."""
    pending = [source]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(getattr(current, "from_node", ()))


def _metas(value: object) -> Iterable[TensorMeta]:
    if isinstance(value, torch.Tensor):
        yield _meta(value)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _metas(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _metas(item)


def _meta(tensor: torch.Tensor) -> TensorMeta:
    """Return a (fake) tensor's description; a symbolic size is given by its hint, else -1."""
    strided = tensor.layout == torch.strided
    return TensorMeta(
        shape=tuple(_hint(size) for size in tensor.shape),
        stride=tuple(_hint(size) for size in tensor.stride()) if strided else (),
        dtype=str(tensor.dtype).removeprefix("torch."),
        device=str(tensor.device),
    )


def _hint(size: int | torch.SymInt) -> int:
    if isinstance(size, int):
        return size
    hint = size.node.hint if size.node.has_hint() else None
    return hint if isinstance(hint, int) else -1
