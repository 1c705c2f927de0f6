"""The graphs that places are looked for in. In: a Site. Out: views of its post-grad or joint graphs, each made once."""

from collections.abc import Iterator

from compdiff.missed.graph_view import GraphView
from compdiff.missed.place import Site


def post_grad_views(site: Site) -> Iterator[GraphView]:
    """Yield the graphs after all passes, in the order in which they were compiled."""
    for graph in site.facts.graphs.values():
        if graph.post_grad is not None:
            yield GraphView(graph, graph.post_grad)


def joint_views(site: Site) -> Iterator[GraphView]:
    """Yield the graphs before the joint passes: forward and backward in one, where there is a backward."""
    for graph in site.facts.graphs.values():
        if graph.joint is not None:
            yield GraphView(graph, graph.joint)
