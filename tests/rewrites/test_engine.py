"""Fates and origins as the engine gives them."""

import msgspec

from compdiff.analysis import analyse
from compdiff.model import AttributedCall, Diff, Graph, GraphNode, OpCall, PassEvent, Run
from tests.builders import (
    capture,
    compiler,
    event,
    graph,
    kernel,
    node,
    op,
    run,
    tensor,
    wrapper_call,
)


def eager_twice() -> Run:
    """Return a run whose compiled side does as the eager one, with a library kernel for its op call."""
    left = capture(op_calls=(op(0, "aten::mm"),))
    right = capture(
        op_calls=(op(0, "aten::mm"),), kernels=(kernel(0, kind="library", op_call=0, graph=None),)
    )
    return msgspec.structs.replace(run(), left=left, right=right)


def test_a_kernel_has_the_origin_of_the_call_that_launched_it() -> None:
    """Outside Inductor's graphs nothing else says where a kernel came from."""
    diff = analyse(eager_twice())
    assert diff.origins["c0"].op_calls == ("e0",)
    assert diff.origins["k0"].op_calls == ("e0",)


def test_a_kernel_of_an_introduced_call_is_introduced() -> None:
    """The copy that an introduced call launches was asked for by nobody."""
    whole = eager_twice()
    copying = capture(
        op_calls=(op(0, "aten::mm"), op(1, "aten::clone", inputs=((8,),))),
        kernels=(kernel(0, kind="memcpy", op_call=1, graph=None),),
        compiler=compiler(()),
    )
    diff = analyse(msgspec.structs.replace(whole, right=copying))
    assert diff.origins["c1"].introduced
    assert diff.origins["k0"].introduced == "launched by c1, which was introduced"


def traced(name: str, call: str, op_name: str, *inputs: str, target: str = "") -> GraphNode:
    """Return a graph node that one eager call of `op_name` became."""
    target = target or f"aten.{op_name}.default"
    original = f"aten.{op_name}.default"
    return node(name, target, dynamo_nodes=(call,), original_aten=original, inputs=inputs)


def in_chain(number: int, name: str) -> OpCall:
    """Return an op call that reads what the one before made, and that autograd sees."""
    made, read = (
        msgspec.structs.replace(tensor(4, 4), value=value, storage=value)
        for value in (number + 1, number)
    )
    call = op(number, f"aten::{name}", sequence=number, outputs=(made,))
    return msgspec.structs.replace(call, inputs=(read,))


def compiled(
    ops: tuple[tuple[str, str], ...],
    nodes: tuple[GraphNode, ...],
    kernels: tuple[tuple[str, tuple[str, ...]], ...],
    externs: tuple[tuple[str, tuple[str, ...]], ...] = (),
    passes: tuple[PassEvent, ...] = (),
) -> Diff:
    """Return the diff of eager calls, named by their Dynamo nodes, and kernels and extern calls that compute these nodes."""
    named = (*externs, *kernels)
    calls = tuple(
        msgspec.structs.replace(
            wrapper_call(index, name, nodes=held),
            kind="triton" if (name, held) in kernels else "extern",
        )
        for index, (name, held) in enumerate(named)
    )
    joint, post_grad = (Graph(stage=stage, nodes=nodes) for stage in ("joint", "post_grad"))
    attributed = tuple(
        AttributedCall(
            name=f"aten::{name}",
            overload="default",
            shapes=((4, 4),),
            compile_id="0/0",
            node=call,
            phase="forward",
        )
        for call, name in ops
    )
    left = capture(op_calls=tuple(in_chain(index, name) for index, (_, name) in enumerate(ops)))
    right = capture(
        "compiled",
        op_calls=tuple(
            op(index, f"aten::{name}", graph=0, call=index)
            for index, (name, _) in enumerate(externs)
        ),
        kernels=tuple(
            kernel(index, name, kind="triton", graph=0, call=len(externs) + index)
            for index, (name, _) in enumerate(kernels)
        ),
        compiler=compiler(
            (graph(calls=calls, joint=joint, post_grad=post_grad, passes=passes),),
            attributed=attributed,
        ),
    )
    return analyse(msgspec.structs.replace(run(), left=left, right=right))


MUL = traced("mul", "a", "mul")
SUM = traced("sum_1", "b", "sum", "mul", target="aten.sum.dim_IntList")


def test_a_reduction_in_two_steps_is_computed_once() -> None:
    """Both kernels name it and what leads to it: the second reduces what the first one stored."""
    both = ("sum_1", "mul")
    diff = compiled(
        (("a", "mul"), ("b", "sum")), (MUL, SUM), (("triton_red_0", both), ("triton_per_1", both))
    )
    assert [origin.recomputed for origin in diff.origins.values()] == [(), ()]
    assert {rewrite.rule for rewrite in diff.rewrites} == {"reduction-fusion"}


def test_a_pointwise_op_in_two_kernels_is_computed_twice() -> None:
    """Nothing stores it."""
    nodes = (MUL, traced("sin", "b", "sin", "mul"), traced("cos", "c", "cos", "mul"))
    diff = compiled(
        (("a", "mul"), ("b", "sin"), ("c", "cos")),
        nodes,
        (("triton_poi_0", ("sin", "mul")), ("triton_poi_1", ("cos", "mul"))),
    )
    assert [origin.recomputed for origin in diff.origins.values()] == [("e0",), ("e0",)]


def test_a_constant_that_kernels_share_joins_no_calls() -> None:
    """The number 0 stands in both; each call is of its own kernel."""
    zero = traced("full", "a", "clamp", target="aten.full.default")
    nodes = (zero, traced("one", "a", "clamp", "full"), traced("two", "b", "relu", "full"))
    diff = compiled(
        (("a", "clamp"), ("b", "relu")),
        nodes,
        (("triton_poi_0", ("one", "full")), ("triton_poi_1", ("two", "full"))),
    )
    assert [origin.op_calls for origin in diff.origins.values()] == [("e0",), ("e1",)]


def test_an_op_whose_bias_joins_a_kernel_is_kept() -> None:
    """The convolution is no pointwise op, though a kernel adds its bias."""
    nodes = (
        traced("conv", "a", "convolution"),
        traced("bias", "a", "convolution", "conv", target="aten.add.Tensor"),
        traced("relu", "b", "relu", "bias"),
    )
    diff = compiled(
        (("a", "convolution"), ("b", "relu")),
        nodes,
        (("triton_poi_0", ("relu", "bias")),),
        (("convolution", ("conv",)),),
    )
    assert diff.fates["e0"].fate == "kept"
    assert "generated kernel does the rest" in diff.fates["e0"].why
    assert diff.rewrites[0].shared == ("e0",)


def test_the_kernel_that_an_op_of_the_case_launches_is_kept() -> None:
    """The compiler wrote none of it."""
    target = "torch.ops.higher_order.triton_kernel_wrapper_mutation"
    diff = compiled(
        (("a", "added"),), (traced("made", "a", "added", target=target),), (("add", ("made",)),)
    )
    assert diff.fates["e0"].fate == "kept"
    assert diff.origins["k0"].op_calls == ("e0",)


def test_a_value_that_nothing_reads_is_dead() -> None:
    """The compiler's graph lacks it, and autograd needs no more than its shape."""
    left = (("a", "mul"), ("b", "sum"))
    diff = compiled(left, (MUL,), (("triton_poi_0", ("mul",)),))
    assert diff.fates["e1"].fate == "eliminated"
    assert [rewrite.rule for rewrite in diff.rewrites if "e1" in rewrite.left] == ["dead-code"]


def test_a_padded_product_is_a_pattern_s_work() -> None:
    """The product and the kernel that pads its input take the place of one call, and no fusion claims it."""
    removed = (traced("mm", "a", "mm"),)
    change = msgspec.structs.replace(event("mm_pattern", ("mm",), ("pad", "mm_1")), removed=removed)
    pad, product = node("pad", "aten.constant_pad_nd.default"), node("mm_1", "aten.mm.default")
    diff = compiled(
        (("a", "mm"), ("b", "relu")),
        (*removed, pad, product, traced("relu", "b", "relu", "mm_1")),
        (("triton_poi_0", ("pad", "relu")),),
        (("mm", ("mm_1",)),),
        (change,),
    )
    assert {rewrite.rule: rewrite.right for rewrite in diff.rewrites}["compiler-pattern"] == (
        "c0",
        "k0",
    )
    assert diff.fates["e0"].fate == "rewritten"


def test_what_later_passes_make_of_a_pass_s_nodes_belongs_to_its_rewrite() -> None:
    """A padded addmm that is then split runs as a plain product: that is the padding's work too."""
    addmm = traced("addmm", "a", "addmm")
    padded = msgspec.structs.replace(
        event("addmm_pattern", ("addmm",), ("pad", "addmm_1")),
        removed=(addmm,),
        location="torch/_inductor/fx_passes/pad_mm.py:1",
    )
    split = event("unfuse", ("addmm_1",), ("mm_1", "add_1"))
    made = (
        node("pad", "aten.constant_pad_nd.default"),
        node("mm_1", "aten.mm.default"),
        node("add_1", "aten.add.Tensor", inputs=("mm_1",)),
    )
    diff = compiled(
        (("a", "addmm"), ("b", "relu")),
        (addmm, *made, traced("relu", "b", "relu", "add_1")),
        (("triton_poi_0", ("pad",)), ("triton_poi_1", ("relu", "add_1"))),
        (("mm", ("mm_1",)),),
        (padded, split),
    )
    assert {rewrite.rule: rewrite.right for rewrite in diff.rewrites}["matmul-padded"] == (
        "c0",
        "k0",
        "k1",
    )
