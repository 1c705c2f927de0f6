"""What a Triton template computes. In: a compiled graph and the nodes of one of its calls. Out: FLOPs, and at which rate.

Inductor writes products, convolutions and flex_attention from templates; its own count of a kernel has bytes only. The
formulas are those of torch.utils.flop_counter, on the shapes of the graph's nodes.
"""

import math
from collections.abc import Iterable, Mapping

from compdiff.capture.plan.costs import rate_of_dtype
from compdiff.model import CompiledGraph, GraphNode

TEMPLATE_PREFIX = "triton_tem_"
# The place of the first factor among the inputs of a product.
_PRODUCTS = {
    "aten.mm.default": 0,
    "aten.bmm.default": 0,
    "aten.addmm.default": 1,
    "aten.baddbmm.default": 1,
}
_CONVOLUTION = "aten.convolution.default"
_ATTENTION = "torch.ops.higher_order.flex_attention"


def template_work(graph: CompiledGraph, names: Iterable[str]) -> tuple[int, str]:
    """Return the FLOPs of a template's nodes, and the row of `peak_tflops` that it computes at."""
    nodes = {node.name: node for node in (graph.post_grad.nodes if graph.post_grad else ())}
    total, rate = 0, "float32"
    for node in (nodes[name] for name in names if name in nodes):
        flops = _flops(node, nodes)
        if flops:
            total += flops
            factor = nodes[node.inputs[0]].outputs
            rate = rate_of_dtype(factor[0].dtype if factor else "float32")
    return total, rate


def _flops(node: GraphNode, nodes: Mapping[str, GraphNode]) -> int:
    shapes = [
        nodes[name].outputs[0].shape
        for name in node.inputs
        if name in nodes and nodes[name].outputs
    ]
    if not node.outputs or not shapes:
        return 0
    made = math.prod(node.outputs[0].shape)
    if node.target in _PRODUCTS:
        # A factor that stands for both is named once.
        return 2 * made * shapes[min(_PRODUCTS[node.target], len(shapes) - 1)][-1]
    if node.target == _CONVOLUTION:
        return 2 * made * math.prod(shapes[1][1:])
    if node.target == _ATTENTION:
        query, key, value = shapes[:3]
        return 2 * math.prod(query[:-1]) * key[-2] * (query[-1] + value[-1])
    return 0
