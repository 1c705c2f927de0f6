"""Which of the nodes that an item names it computes."""

from collections.abc import Mapping

from compdiff.align.lineage import NodeRef
from compdiff.align.own_nodes import own_nodes
from compdiff.model import GraphNode, Kernel, OpCall
from tests.builders import kernel, node, op

# Two convolutions with a relu after each; the second one's input is laid out anew.
NODES = {
    "clone": node("clone", "aten.clone.default", inputs=("x",)),
    "conv": node("conv", "aten.convolution.default", inputs=("clone",)),
    "relu": node("relu", "aten.relu.default", inputs=("conv",)),
    "conv_1": node("conv_1", "aten.convolution.default", inputs=("relu",)),
    "part": node("part", "_operator.getitem", inputs=("conv_1",)),
    "neg": node("neg", "aten.neg.default", inputs=("part",)),
    "relu_1": node("relu_1", "aten.relu.default", inputs=("conv_1",)),
}


def _own(items: Mapping[str, OpCall | Kernel], **named: str) -> dict[str, str]:
    nodes: dict[NodeRef, GraphNode] = {NodeRef(0, name): it for name, it in NODES.items()}
    refs = {item: [NodeRef(0, name) for name in names.split()] for item, names in named.items()}
    found = own_nodes(items.items(), refs, nodes)
    return {item: " ".join(ref.name for ref in refs) for item, refs in found.items()}


def _convolution(number: int, call: int) -> OpCall:
    return op(number, "aten::convolution", graph=0, call=call)


def test_a_later_call_of_an_op_does_not_do_an_earlier_ones_work() -> None:
    """Both convolutions name the first one's node."""
    calls = {"c0": _convolution(0, 0), "c1": _convolution(1, 1)}
    assert _own(calls, c0="clone conv", c1="conv_1 relu conv clone") == {
        "c0": "conv",
        "c1": "conv_1",
    }


def test_a_graph_that_runs_twice_makes_the_same_calls() -> None:
    """The second run of the graph computes the same nodes."""
    calls = {"c0": _convolution(0, 3), "c1": _convolution(1, 3)}
    assert _own(calls, c0="conv", c1="conv") == {"c0": "conv", "c1": "conv"}


def test_a_call_that_names_no_node_of_its_op_keeps_all() -> None:
    """A pattern's node has another target than the op."""
    assert _own({"c0": op(0, "aten::mm", graph=0, call=0)}, c0="relu") == {"c0": "relu"}


def test_a_kernel_computes_nothing_behind_a_library_call() -> None:
    """The kernel after the second convolution does its relu, and may do a part of the convolution, as its bias."""
    items: dict[str, OpCall | Kernel] = {"c1": _convolution(1, 1), "k0": kernel(0, graph=0)}
    found = _own(items, c1="conv_1", k0="relu_1 conv_1 relu conv clone")
    assert found["k0"] == "relu_1 conv_1"


def test_a_kernel_that_prepares_an_input_computes_what_leads_to_it() -> None:
    """Its last node is the library call's own."""
    items: dict[str, OpCall | Kernel] = {
        "c1": _convolution(1, 1),
        "c0": _convolution(0, 0),
        "k0": kernel(0, graph=0),
    }
    found = _own(items, c0="conv", c1="conv_1 conv", k0="conv_1 relu conv clone")
    assert found["k0"] == "conv_1 relu conv"


def test_a_kernel_without_library_calls_computes_all_that_it_names() -> None:
    """Nothing lies between."""
    assert _own({"k0": kernel(0, graph=0)}, k0="relu clone") == {"k0": "relu clone"}


def test_a_kernel_reads_what_an_earlier_one_ends_in() -> None:
    """The second kernel names all that led to its input, which the first one stores."""
    items: dict[str, OpCall | Kernel] = {
        f"k{number}": kernel(number, graph=0, call=number) for number in (0, 1)
    }
    assert _own(items, k0="relu conv", k1="conv_1 relu conv") == {"k0": "relu conv", "k1": "conv_1"}


def test_two_kernels_that_end_in_the_same_node_both_do_it() -> None:
    """The first step of a sum and the second one."""
    items: dict[str, OpCall | Kernel] = {
        f"k{number}": kernel(number, graph=0, call=number) for number in (0, 1)
    }
    assert _own(items, k0="relu conv", k1="relu conv") == {"k0": "relu conv", "k1": "relu conv"}


def test_a_node_inside_an_earlier_kernel_may_be_computed_again() -> None:
    """Only what a kernel ends in is sure to be stored."""
    items: dict[str, OpCall | Kernel] = {
        f"k{number}": kernel(number, graph=0, call=number) for number in (0, 1)
    }
    assert _own(items, k0="conv_1 relu conv", k1="relu conv") == {
        "k0": "conv_1 relu conv",
        "k1": "relu conv",
    }


def test_what_is_read_through_a_view_is_read() -> None:
    """Nobody names the element that is taken of an op with several results."""
    items: dict[str, OpCall | Kernel] = {
        f"k{number}": kernel(number, graph=0, call=number) for number in (0, 1)
    }
    assert _own(items, k0="conv_1", k1="neg conv_1") == {"k0": "conv_1", "k1": "neg"}
