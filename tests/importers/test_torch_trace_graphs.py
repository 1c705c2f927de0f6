"""From records to compiled graphs: calls of a wrapper, changes between graphs, origins of joint nodes."""

from collections.abc import Mapping

from compdiff.importers.torch_trace.calls import call_nodes, fragments, written_calls
from compdiff.importers.torch_trace.changes import graph_changes
from compdiff.importers.torch_trace.frames import Frame, Lowered
from compdiff.importers.torch_trace.fx_code import read_graph_code
from compdiff.importers.torch_trace.origins import with_origins
from compdiff.model import Graph, GraphNode, PassEvent

WRAPPER = """
# AOT ID: ['3_backward']
# Topologically Sorted Source Nodes: [h], Original ATen: [aten.relu]
# Source node to ATen node mapping:
#   h => relu
# Graph fragment:
#   %mm : Tensor "f32[4, 4]" = PlaceHolder[target=mm]
#   %relu : Tensor "f32[4, 4]"[num_users=1] = call_function[target=torch.ops.aten.relu.default](args = (%mm,), kwargs = {})
#   return %relu
triton_poi_fused_relu_0 = async_compile.triton('triton_poi_fused_relu_0', '''
code
''', device_str='cuda')

def call(args):
        # Topologically Sorted Source Nodes: [a], Original ATen: [aten.mm]
        extern_kernels.mm(x, w, out=buf0)
        triton_poi_fused_relu_0.run(buf0, 16, stream=stream0)
        # Topologically Sorted Source Nodes: [b], Original ATen: [aten.mm]
        extern_kernels.mm(buf0, v, out=buf2)
        buf3 = torch.ops.aten.sort.default(buf2)
"""


def graph(*lines: str, stage: str = "joint", inputs: str = "x, w, v, b") -> Graph:
    """Return a graph from the lines of its forward."""
    body = "\n".join(f"        {line}" for line in lines)
    code = f"class A(torch.nn.Module):\n    def forward(self, {inputs}):\n{body}\n"
    return Graph(stage=stage, nodes=read_graph_code(code), code=code)


def aten(name: str, op: str, *inputs: str) -> str:
    """Return a line that calls an op."""
    return f"{name} = torch.ops.aten.{op}({', '.join(inputs)})"


def changes(before: Graph, after: Graph, stage: str = "post_grad") -> list[tuple[object, ...]]:
    """Return events as pass or pattern, removed and made nodes."""
    found: tuple[PassEvent, ...] = graph_changes(before, after, stage)
    return [
        (one.pattern or one.pass_name, [n.name for n in one.removed], [n.name for n in one.created])
        for one in found
    ]


# ---------------------------------------------------------------- calls

POST_GRAD = graph(
    aten("mm", "mm.default", "x", "w"),
    aten("relu", "relu.default", "mm"),
    aten("mm_1", "mm.default", "relu", "v"),
    aten("sort", "sort.default", "mm_1"),
    "return (sort,)",
).nodes


def test_calls_stand_in_the_code() -> None:
    """Library calls and generated kernels in order, with the Dynamo nodes of their comment."""
    found = written_calls(WRAPPER)
    assert [(call.name, call.sources) for call in found] == [
        ("extern_kernels.mm", ("a",)),
        ("triton_poi_fused_relu_0", ()),
        ("extern_kernels.mm", ("b",)),
        ("torch.ops.aten.sort.default", ()),
    ]


def test_comments_over_kernels() -> None:
    """They name the nodes of a kernel, and which Dynamo node each is from."""
    found = fragments(WRAPPER)
    assert found["triton_poi_fused_relu_0"].nodes == ["relu"]
    assert found["triton_poi_fused_relu_0"].sources == {"h": ("relu",)}


def test_calls_of_one_name_take_turns_without_mappings() -> None:
    """By the inputs that they read; they are counted as found by names."""
    found, by_names = call_nodes(Lowered(code=WRAPPER), POST_GRAD)
    assert list(found.values()) == [("mm",), ("relu",), ("mm_1",), ("sort",)]
    assert by_names == 3


def test_old_mappings_give_calls_of_one_name_all_nodes() -> None:
    """The source nodes of the comment tell them apart."""
    lowered = Lowered(
        code=WRAPPER,
        nodes_of={"extern_kernels.mm": ("mm_1", "mm"), "triton_poi_fused_relu_0": ("relu",)},
        sources={"mm": ("a",), "mm_1": ("b",), "relu": ("h",)},
    )
    found, by_names = call_nodes(lowered, POST_GRAD)
    assert list(found.values()) == [("mm",), ("relu",), ("mm_1",), ("sort",)]
    assert by_names == 1


def test_new_mappings_name_each_call() -> None:
    """Keys are `name:N`, in the order of N where the code has no handles."""
    handles: dict[str, tuple[str, ...]] = {
        "extern_kernels.mm:1": ("mm_1",),
        "extern_kernels.mm:4": ("mm",),
    }
    found, _ = call_nodes(Lowered(code=WRAPPER, nodes_of=handles), POST_GRAD)
    assert [found[key] for key in ("extern_kernels.mm:1", "extern_kernels.mm:4")] == [
        ("mm_1",),
        ("mm",),
    ]


def test_kernels_between_library_calls_by_data_flow() -> None:
    """A node runs in the kernel before the call that reads it; what only the outputs use runs by its name."""
    code = "\n".join(
        f"        {line}"
        for line in (
            "cpp_fused_mul_sum_0(x, buf0, buf1)",
            "extern_kernels.mm(buf0, w, out=buf2)",
            "cpp_fused_relu_1(buf2)",
        )
    )
    post_grad = graph(
        aten("mul", "mul.Tensor", "x", "x"),
        aten("mm", "mm.default", "mul", "w"),
        aten("relu", "relu.default", "mm"),
        aten("sum_1", "sum.dim_IntList", "mul", "[0]"),
        "return (relu, sum_1)",
    )
    found, by_names = call_nodes(Lowered(code=code), post_grad.nodes)
    assert list(found.values()) == [("mul", "sum_1"), ("mm",), ("relu",)]
    assert by_names == 3


def test_a_frame_has_one_lowering_for_each_wrapper() -> None:
    """The AOT id says direction and number; mappings belong to the wrapper before them."""
    frame = Frame("0/0")
    frame.add_graph(Graph(stage="post_grad", nodes=()))
    frame.add_code("# AOT ID: ['7_forward']")
    frame.add_mappings({"cppCodeToPost": {"k": ["a", 1]}, "postToPre": "damaged"})
    frame.add_code(WRAPPER)
    assert [(one.direction, one.number) for one in frame.lowered] == [
        ("forward", 7),
        ("backward", 3),
    ]
    assert frame.lowered[0].nodes_of == {"k": ("a",)}
    assert frame.lowered[0].sources == {}


# ---------------------------------------------------------------- changes


def test_two_patterns_in_a_row_are_two_events() -> None:
    """Each addmm with its own product and addition."""
    before = graph(
        aten("mm", "mm.default", "x", "w"), aten("add", "add.Tensor", "mm", "b"),
        aten("mm_1", "mm.default", "add", "v"), aten("add_1", "add.Tensor", "mm_1", "b"),
        "return (add_1,)",
    )  # fmt: skip
    after = graph(
        aten("addmm_a", "addmm.default", "b", "x", "w"),
        aten("addmm_b", "addmm.default", "b", "addmm_a", "v"),
        "return (addmm_b,)",
    )
    assert changes(before, after) == [
        ("addmm", ["mm", "add"], ["addmm_a"]),
        ("addmm", ["mm_1", "add_1"], ["addmm_b"]),
    ]


def test_one_node_becomes_two() -> None:
    """Addmm was taken apart."""
    before = graph(aten("addmm", "addmm.default", "b", "x", "w"), "return (addmm,)")
    after = graph(
        aten("mm", "mm.default", "x", "w"), aten("add", "add.Tensor", "mm", "b"), "return (add,)"
    )
    assert changes(before, after) == [
        ("unfuse_bias_add_to_pointwise", ["addmm"], ["add", "mm"]),
    ]


def test_nodes_that_were_only_removed() -> None:
    """One that did nothing, and one that repeats another."""
    noop = graph(aten("clone", "clone.default", "x"), aten("sin", "sin.default", "clone"), "return (sin,)")  # fmt: skip
    assert changes(noop, graph(aten("sin", "sin.default", "x"), "return (sin,)")) == [
        ("remove_noop_ops", ["clone"], [])
    ]
    twice = graph(
        aten("sin", "sin.default", "x"), aten("sin_1", "sin.default", "x"),
        aten("add", "add.Tensor", "sin", "sin_1"), "return (add,)",
    )  # fmt: skip
    once = graph(aten("sin", "sin.default", "x"), aten("add", "add.Tensor", "sin", "sin"), "return (add,)")  # fmt: skip
    assert changes(twice, once) == [("fx_graph_cse", ["sin_1"], [])]


def test_a_replacement_that_no_pattern_names() -> None:
    """It is an event all the same."""
    before = graph(aten("sin", "sin.default", "x"), "return (sin,)")
    after = graph(aten("cos", "cos.default", "x"), "return (cos,)")
    assert changes(before, after) == [("difference of the logged graphs", ["sin"], ["cos"])]
    assert changes(before, before) == []


# ---------------------------------------------------------------- origins


def origins(dynamo: Graph, joint: Graph, told: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Return the Dynamo node of each joint node that has one."""
    found: tuple[GraphNode, ...] = with_origins(joint.nodes, dynamo.nodes, told)
    return {node.name: node.dynamo_nodes[0] for node in found if node.dynamo_nodes}


DYNAMO = graph(
    "matmul = x @ w", "add = matmul + b", "h = torch._C._nn.gelu(add)", "mul = h * 2", "return (mul,)"
)  # fmt: skip
JOINT = graph(
    aten("mm", "mm.default", "x", "w"), aten("add", "add.Tensor", "mm", "b"),
    aten("mul", "mul.Tensor", "add", "0.5"), aten("erf", "erf.default", "add"),
    aten("add_1", "add.Tensor", "erf", "1"), aten("mul_1", "mul.Tensor", "mul", "add_1"),
    aten("mul_2", "mul.Tensor", "mul_1", "2"), "return (mul_2,)",
)  # fmt: skip
EXPECTED = {"mm": "matmul", "add": "add", "mul": "h", "erf": "h", "add_1": "h", "mul_1": "h", "mul_2": "mul"}  # fmt: skip


def test_origins_without_a_word_in_the_log() -> None:
    """Order and names tell: what has no node of its name was decomposed."""
    assert origins(DYNAMO, JOINT, {}) == EXPECTED


def test_origins_beside_what_the_log_says() -> None:
    """What is told stands, and bounds the rest."""
    told = {"mul": ("h",), "mul_1": ("h",), "mul_2": ("mul",)}
    assert origins(DYNAMO, JOINT, told) == EXPECTED


def test_backward_begins_at_the_first_gradient() -> None:
    """Older torch does not say it in a comment."""
    joint = graph(
        aten("sin", "sin.default", "primals_1"), aten("mul", "mul.Tensor", "tangents_1", "sin"),
        aten("cos", "cos.default", "primals_1"), "return (sin, cos)", inputs="primals_1, tangents_1",
    )  # fmt: skip
    found = with_origins(joint.nodes, (), {})
    assert [node.name for node in found if node.backward] == ["mul", "cos"]
