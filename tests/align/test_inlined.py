"""Nodes that kernels compute without naming them."""

from compdiff.align.inlined import inlined_nodes
from compdiff.model import CompiledGraph, Graph, GraphNode, WrapperCall


def node(name: str, *inputs: str, target: str = "aten.add.Tensor") -> GraphNode:
    """Return a node of a post-grad graph."""
    return GraphNode(name=name, op="call_function", target=target, inputs=inputs)


def graph(nodes: list[GraphNode], *calls: tuple[str, tuple[str, ...]]) -> CompiledGraph:
    """Return a compiled graph whose calls, in order, are of a kind and name some nodes."""
    return CompiledGraph(
        id=0,
        compile_id="0/0",
        direction="inference",
        post_grad=Graph(stage="post_grad", nodes=tuple(nodes)),
        calls=tuple(
            WrapperCall(index=index, name=f"{kind}.{names[0]}", kind=kind, nodes=names)
            for index, (kind, names) in enumerate(calls)
        ),
    )


def test_a_node_that_nothing_names_is_computed_by_its_users_kernel() -> None:
    """It is in the final graph and nothing stores it."""
    made = graph([node("a"), node("b", "a"), node("c", "b")], ("triton", ("c",)))
    assert inlined_nodes(made) == {0: ("a", "b")}


def test_it_is_found_through_views_which_compute_nothing() -> None:
    """The view itself is not work of the kernel."""
    view = node("view", "a", target="aten.view.default")
    made = graph([node("a"), view, node("c", "view")], ("triton", ("c",)))
    assert inlined_nodes(made) == {0: ("a",)}


def test_each_kernel_of_several_users_computes_it() -> None:
    """Nothing is stored, so each reader does it anew."""
    made = graph([node("a"), node("b", "a"), node("c", "a")], ("triton", ("b",)), ("cpp", ("c",)))
    assert inlined_nodes(made) == {0: ("a",), 1: ("a",)}


def test_a_library_call_computes_no_input_inline() -> None:
    """Its inputs are stored by someone: who does is not known."""
    assert inlined_nodes(graph([node("a"), node("mm", "a")], ("extern", ("mm",)))) == {}


def test_a_node_that_a_library_call_names_is_its_own() -> None:
    """A kernel that reads the result of a library call does not compute it."""
    made = graph([node("mm"), node("b", "mm")], ("extern", ("mm",)), ("triton", ("b",)))
    assert inlined_nodes(made) == {}


def test_a_cat_that_no_kernel_reads_is_made_by_the_kernels_of_its_parts() -> None:
    """They write into its memory."""
    cat = node("cat", "a", "b", target="aten.cat.default")
    view = node("view", "cat", target="aten.reshape.default")
    made = graph([node("a"), node("b"), cat, view], ("triton", ("a",)), ("triton", ("b",)))
    assert inlined_nodes(made) == {0: ("cat",), 1: ("cat",)}


def test_an_op_over_a_list_is_no_part_of_its_readers() -> None:
    """One kernel runs all its parts and stores them."""
    many = node("many", target="aten._foreach_add.Scalar")
    made = graph([many, node("c", "many")], ("triton", ("c",)))
    assert inlined_nodes(made) == {}


def test_a_cat_that_a_library_call_reads_is_made_by_the_kernels_of_its_parts() -> None:
    """A kernel copies it for the library call, another one adds the call's bias: neither joins the parts."""
    cat = node("cat", "a", "bmm", target="aten.cat.default")
    nodes = [node("a"), node("bmm", target="aten.bmm.default"), cat]
    nodes.append(node("mm", "cat", target="aten.mm.default"))
    made = graph(
        nodes,
        ("triton", ("a",)),
        ("triton", ("bmm",)),  # prepares an input of the product
        ("extern", ("bmm",)),
        ("triton", ("bmm",)),  # writes the product into the cat
        ("triton", ("mm", "a")),
        ("extern", ("mm",)),
        ("triton", ("mm",)),
    )
    assert inlined_nodes(made) == {0: ("cat",), 3: ("cat",)}


def test_what_a_library_call_reads_is_computed_by_the_kernel_before_it() -> None:
    """The kernel that lays out its input computes it; the one that goes on with the result does not."""
    nodes = [node("a"), node("mm", "a", target="aten.mm.default")]
    calls = (("triton", ("mm",)), ("extern", ("mm",)), ("triton", ("mm",)))
    assert inlined_nodes(graph(nodes, *calls)) == {0: ("a",)}
