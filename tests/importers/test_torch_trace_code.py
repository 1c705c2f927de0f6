"""Printed FX graphs and types, as torch 2.6 to 2.14 print them."""

import textwrap

import pytest

from compdiff.importers.torch_trace.annotations import tensors_of
from compdiff.importers.torch_trace.fx_code import read_graph_code
from compdiff.model import GraphNode

DYNAMO = """
class GraphModule(torch.nn.Module):
    def forward(self, L_x_: "f32[8, 4][4, 1]cpu", s0: "Sym(s0)"):
        l_x_ = L_x_

         # File: /home/u/a:b.py:12 in f, code: y = x @ x.T + 1
        permute: "f32[4, 8][1, 4]cpu" = l_x_.t()
        y: "f32[8, 8][8, 1]cpu" = l_x_ @ permute;  permute = None
        neg = -y
        y += 1;  add = y;  y = None
        add[0] = neg;  setitem = add;  neg = setitem = None
        weight = self.weight
        out: "f32[8, 8]" = self.layer(add, weight)
        # No stacktrace found for following nodes
        le: "b8[8, 8][8, 1]cpu" = out <= 0
        split = torch.functional.split(out, 4);  out = None
        getitem: "f32[4, 8][8, 1]cpu" = split[0]
        getitem_1: "f32[4, 8][8, 1]cpu" = split[1];  split = None
        size = getitem.shape
        return (getitem, getitem_1, le)

    class inner(torch.nn.Module):
        def forward(self, z):
            w = z + 1
            return w
"""


def nodes(code: str) -> dict[str, GraphNode]:
    """Return the nodes of a graph's code by name."""
    return {node.name: node for node in read_graph_code(textwrap.dedent(code))}


def test_calls_by_kind() -> None:
    """Functions, methods, modules, attributes, operators, also those in place."""
    found = {name: (node.op, node.target, node.inputs) for name, node in nodes(DYNAMO).items()}
    assert found == {
        "l_x_": ("placeholder", "L_x_", ()),
        "s0": ("placeholder", "s0", ()),
        "permute": ("call_method", "t", ("l_x_",)),
        "y": ("call_function", "_operator.matmul", ("l_x_", "permute")),
        "neg": ("call_function", "_operator.neg", ("y",)),
        "add": ("call_function", "_operator.iadd", ("y",)),
        "setitem": ("call_function", "_operator.setitem", ("add", "neg")),
        "weight": ("get_attr", "weight", ()),
        "out": ("call_module", "layer", ("add", "weight")),
        "le": ("call_function", "_operator.le", ("out",)),
        "split": ("call_function", "torch.functional.split", ("out",)),
        "getitem": ("call_function", "_operator.getitem", ("split",)),
        "getitem_1": ("call_function", "_operator.getitem", ("split",)),
        "size": ("call_function", "getattr.shape", ("getitem",)),
        "output": ("output", "output", ("getitem", "getitem_1", "le")),
    }


def test_tensors_and_places() -> None:
    """Types come from annotations, of several tensors from their parts; places from the comment before."""
    found = nodes(DYNAMO)
    assert found["y"].outputs[0].stride == (8, 1)
    assert [meta.shape for meta in found["split"].outputs] == [(4, 8), (4, 8)]
    place = found["y"].source
    assert place is not None
    assert (place.file, place.line, place.function) == ("/home/u/a:b.py", 12, "f")
    assert place.text == "y = x @ x.T + 1"
    assert found["le"].source is None


def test_a_joint_graph_declares_its_inputs() -> None:
    """They stand in the body, and the comment says what is backward."""
    found = nodes("""
        class inner_f(torch.nn.Module):
            def forward(
                self,
                primals,
                tangents,
            ):
                primals_1: "f32[4][1]cpu"  # PlainAOTInput(idx=0)
                tangents_1: "f32[4][1]cpu"
                primals_1, tangents_1, = fx_pytree.tree_flatten_spec([primals, tangents], self._in_spec)
                # File: /m.py:3 in f, code: x.sin()
                sin: "f32[4][1]cpu" = torch.ops.aten.sin.default(primals_1)
                # Backward of forward node: File: /m.py:3 in f, code: x.sin()
                cos: "f32[4][1]cpu" = torch.ops.aten.cos.default(primals_1);  primals_1 = None
                mul: "f32[4][1]cpu" = torch.ops.aten.mul.Tensor(tangents_1, cos)
                return pytree.tree_unflatten([sin, mul], self._out_spec)
    """)
    assert [name for name, node in found.items() if node.op == "placeholder"] == [
        "primals_1",
        "tangents_1",
    ]
    assert found["sin"].target == "aten.sin.default"
    assert [name for name, node in found.items() if node.backward] == ["cos", "mul"]
    assert found["output"].inputs == ("sin", "mul")


@pytest.mark.parametrize(
    "code",
    ["", "x = 1", "class A:\n    pass", "class A:\n  def forward(", "(" * 5000, "\0", "1" * 9000],
)
def test_what_is_no_graph(code: str) -> None:
    """One kind of error says so, whatever the text is."""
    with pytest.raises(ValueError, match=r"graph module|null bytes|digits"):
        read_graph_code(code)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f32[10, 20][20, 1]cuda:0", [((10, 20), (20, 1), "float32", "cuda:0")]),
        ("bf16[s0, 4]", [((-1, 4), (), "bfloat16", "")]),
        ("i64[][]cpu", [((), (), "int64", "cpu")]),
        ("f8e4m3fn[2*s1]", [((-1,), (), "float8_e4m3fn", "")]),
        ("Sym(s0)", []),
        ("", []),
        ("(f32[1][1]cpu, b8[2][1]cpu)", [((1,), (1,), "float32", "cpu"), ((2,), (1,), "bool", "cpu")]),
    ],
)  # fmt: skip
def test_types(text: str, expected: list[tuple[object, ...]]) -> None:
    """Shape, strides, dtype and device of each tensor in a text."""
    found = [(meta.shape, meta.stride, meta.dtype, meta.device) for meta in tensors_of(text)]
    assert found == expected
