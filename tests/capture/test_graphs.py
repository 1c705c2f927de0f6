"""FX graphs as data: which Dynamo node a node comes from."""

from types import SimpleNamespace

import torch
from torch.fx import Graph, GraphModule

from compdiff.capture.graphs import dynamo_names


def graphs() -> tuple[GraphModule, Graph]:
    """Return a graph and one inside it: its node `checkpoint` runs the other one, where a node is called `linear` too."""
    inner = Graph()
    inner.output(inner.call_function(torch.relu, (inner.placeholder("x"),), name="linear"))
    outer = Graph()
    x = outer.placeholder("x")
    body = outer.get_attr("body")
    made = outer.create_node("call_function", torch.relu, (body, x), name="checkpoint")
    outer.output(outer.call_function(torch.relu, (made,), name="linear"))
    root = torch.nn.Module()
    body_module = GraphModule({}, inner)
    root.body = body_module
    return GraphModule(root, outer), body_module.graph


def source(name: str, graph: Graph) -> SimpleNamespace:
    """Return a provenance of one step."""
    return SimpleNamespace(name=name, graph_id=id(graph), from_node=[])


def test_a_node_of_an_inner_graph_comes_from_the_node_that_runs_it() -> None:
    """Though a node of the outer graph has the same name."""
    whole, inner = graphs()
    names = dynamo_names(whole)
    assert names.of([source("linear", inner)]) == ("checkpoint",)
    assert names.of([source("linear", whole.graph)]) == ("linear",)


def test_a_node_of_an_unknown_graph_goes_by_its_name() -> None:
    """Passes before AOTAutograd copy graphs."""
    names = dynamo_names(graphs()[0])
    assert names.of([source("linear", Graph()), source("gone", Graph())]) == ("linear",)
