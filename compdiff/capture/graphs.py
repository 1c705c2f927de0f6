"""FX graphs as data. In: torch.fx graphs and nodes. Out: Graph and GraphNode records.

Reads node metadata that Dynamo, AOTAutograd and Inductor leave (`from_node`, `original_aten`, `seq_nr`,
`partitioner_tag`, `stack_trace`, `val`); each is optional. Source: torch/fx/traceback.py, torch/_dynamo/output_graph.py.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import torch
from torch.fx import GraphModule, Node

from compdiff.capture.arguments import argument_text
from compdiff.model import Graph, GraphNode, TensorMeta
from compdiff.source import innermost_user


@dataclass(frozen=True, slots=True)
class DynamoNames:
    """The names of a Dynamo graph's nodes.

    `bodies` are the graphs that higher-order ops run, by their id, with the names of the nodes of those ops; `backward` are
    the bodies that only the backward pass runs.
    """

    nodes: frozenset[str] = frozenset()
    bodies: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    backward: frozenset[int] = frozenset()

    def of(self, source: object) -> Iterable[str]:
        """Yield the names of the nodes that one entry of a provenance chain speaks of."""
        name, graph = getattr(source, "name", ""), _graph_of(source)
        if graph is not None and graph in self.bodies:
            yield from self.bodies[graph]
        elif name in self.nodes:
            yield name


_NO_NAMES = DynamoNames()
# The place of the backward body among the arguments of a higher-order op that has one.
# Source: AutogradFunctionApply, torch/_functorch/autograd_function.py (torch 2.14).
_BACKWARD_BODY = {"autograd_function_apply": 1}


def graph_record(stage: str, module: GraphModule, dynamo_names: DynamoNames = _NO_NAMES) -> Graph:
    """Return the graph of `module` as data, with its printed code; `dynamo_names` as in `node_record`."""
    nodes = tuple(node_record(node, dynamo_names) for node in module.graph.nodes)
    return Graph(stage=stage, nodes=nodes, code=module.code.strip())


def node_record(node: Node, dynamo_names: DynamoNames = _NO_NAMES) -> GraphNode:
    """Return one node as data; of the nodes it came from, those named in `dynamo_names` are kept."""
    meta = node.meta
    sources = [one for source in meta.get("from_node", ()) for one in _chain(source)]
    roots = [name for source in sources for name in dynamo_names.of(source)]
    in_backward_body = any(_graph_of(source) in dynamo_names.backward for source in sources)
    return GraphNode(
        name=node.name,
        op=node.op,
        target=target_text(node),
        inputs=tuple(source.name for source in node.all_input_nodes),
        arguments=argument_text(node.args, node.kwargs),
        outputs=tuple(_metas(meta.get("val", meta.get("example_value")))),
        dynamo_nodes=tuple(dict.fromkeys(roots)),
        original_aten=str(meta.get("original_aten") or ""),
        sequence=_number(meta.get("seq_nr")),
        backward=in_backward_body or meta.get("partitioner_tag") == "is_backward",
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


def dynamo_names(module: GraphModule) -> DynamoNames:
    """Return the names of a Dynamo graph's nodes, with the bodies that its higher-order ops run."""
    bodies: dict[int, tuple[str, ...]] = {}
    backward: set[int] = set()
    for node in module.graph.nodes:
        if node.op != "call_function":
            continue
        of_backward = _BACKWARD_BODY.get(getattr(node.target, "__name__", ""), -1)
        for place, argument in enumerate(node.args):
            for graph in _graphs_in(module, argument):
                bodies[graph] = (*bodies.get(graph, ()), node.name)
                backward |= {graph} if place == of_backward else set()
    names = frozenset(node.name for node in module.graph.nodes)
    return DynamoNames(names, bodies, frozenset(backward))


def _graphs_in(module: GraphModule, argument: object) -> Iterable[int]:
    """Yield the ids of the graphs that an argument names, and of those in them."""
    if not isinstance(argument, Node) or argument.op != "get_attr":
        return
    body = getattr(module, str(argument.target), None)
    if isinstance(body, GraphModule):
        parts = (part for part in body.modules() if isinstance(part, GraphModule))
        yield from (id(part.graph) for part in parts)


def _graph_of(source: object) -> int | None:
    """Return the id of the graph that a provenance entry's node stood in."""
    return getattr(getattr(source, "node_info", None), "graph_id", None)


def _number(value: object) -> int:
    return value if isinstance(value, int) else -1


def _chain(source: object) -> Iterable[object]:
    """Yield the entries of a provenance chain, newest first."""
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
