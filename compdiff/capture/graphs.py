"""FX graphs as data. In: torch.fx graphs and nodes. Out: Graph and GraphNode records.

Reads node metadata that Dynamo, AOTAutograd and Inductor leave (`from_node`, `original_aten`, `seq_nr`,
`partitioner_tag`, `stack_trace`, `val`); each is optional. Source: torch/fx/traceback.py, torch/_dynamo/output_graph.py.
"""

from collections.abc import Iterable, Mapping

import torch
from torch.fx import Graph as FxGraph
from torch.fx import GraphModule, Node

from compdiff.capture.arguments import argument_text
from compdiff.model import Graph, GraphNode, TensorMeta
from compdiff.source import innermost_user


def graph_record(
    stage: str, module: GraphModule, dynamo_names: frozenset[str] = frozenset()
) -> Graph:
    """Return the graph of `module` as data, with its printed code; `dynamo_names` as in `node_record`."""
    nodes = tuple(node_record(node, dynamo_names) for node in module.graph.nodes)
    return Graph(stage=stage, nodes=nodes, code=module.code.strip())


def node_record(node: Node, dynamo_names: frozenset[str] = frozenset()) -> GraphNode:
    """Return one node as data; of the nodes it came from, those named in `dynamo_names` are kept."""
    meta = node.meta
    roots = [name for source in meta.get("from_node", ()) for name in _names(source)]
    return GraphNode(
        name=node.name,
        op=node.op,
        target=target_text(node),
        inputs=tuple(source.name for source in node.all_input_nodes),
        arguments=argument_text(node.args, node.kwargs),
        outputs=tuple(_metas(meta.get("val", meta.get("example_value")))),
        dynamo_nodes=tuple(dict.fromkeys(name for name in roots if name in dynamo_names)),
        original_aten=str(meta.get("original_aten") or ""),
        sequence=_number(meta.get("seq_nr")),
        backward=meta.get("partitioner_tag") == "is_backward",
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


def node_names(graph: FxGraph) -> frozenset[str]:
    """Return the names of all nodes of `graph`."""
    return frozenset(node.name for node in graph.nodes)


def _number(value: object) -> int:
    return value if isinstance(value, int) else -1


def _names(source: object) -> Iterable[str]:
    """Yield the node names of a provenance chain, newest first."""
    pending = [source]
    while pending:
        current = pending.pop()
        name = getattr(current, "name", "")
        if name:
            yield name
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
