"""Which Dynamo node a graph node came from."""

from typing import Any

import torch
from torch.fx import Graph, GraphModule
from torch.fx.traceback import NodeSource

from compdiff.capture.graphs import dynamo_names, node_record


def autograd_function_apply(*_: Any) -> None:  # noqa: ANN401 - stands for torch's higher-order op
    """Stand for the op that runs a forward and a backward body."""


def body() -> GraphModule:
    """Return a graph with one node `mul`."""
    graph = Graph()
    graph.output(graph.call_function(torch.mul, (graph.placeholder("x"), 2)))
    return GraphModule({}, graph)


def outer() -> GraphModule:
    """Return a graph that has a node `mul` of its own and an op with two bodies."""
    graph = Graph()
    x = graph.call_function(torch.mul, (graph.placeholder("x"), 3))
    bodies = [graph.get_attr(name) for name in ("there", "back")]
    graph.output(graph.call_function(autograd_function_apply, (*bodies, x)))
    return GraphModule({"there": body(), "back": body()}, graph)


def came_from(module: GraphModule, source: GraphModule) -> Any:  # noqa: ANN401 - a GraphNode's fields
    """Return the record of a node that came from `source`'s node `mul`."""
    graph = Graph()
    node = graph.call_function(torch.mul, (graph.placeholder("x"), 2))
    origin = next(it for it in source.graph.nodes if it.name == "mul")
    node.meta["from_node"] = [NodeSource(origin)]
    return node_record(node, dynamo_names(module))


def test_a_node_of_a_body_came_from_the_op_that_runs_it() -> None:
    """And not from the node of the same name outside."""
    module: Any = outer()
    assert came_from(module, module).dynamo_nodes == ("mul",)
    made = came_from(module, module.there)
    assert (made.dynamo_nodes, made.backward) == (("autograd_function_apply",), False)


def test_the_second_body_of_a_function_is_its_backward() -> None:
    """The partitioner does not tag its nodes."""
    module: Any = outer()
    made = came_from(module, module.back)
    assert (made.dynamo_nodes, made.backward) == (("autograd_function_apply",), True)
