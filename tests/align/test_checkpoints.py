"""Which forward call a call of the backward pass repeats."""

from compdiff.align.checkpoints import find_recomputed
from compdiff.align.lineage import Lineage
from compdiff.align.traces import Alignment, OpTrace
from compdiff.model import AttributedCall, Graph, OpCall, TensorMeta
from tests.builders import capture, compiler, graph, node


def called(number: int, name: str, read: tuple[int, ...], made: int, **fields: object) -> OpCall:
    """Return an op call that reads and makes these values."""

    def metas(values: tuple[int, ...]) -> tuple[TensorMeta, ...]:
        return tuple(
            TensorMeta(shape=(4, 4), stride=(4, 1), dtype="float32", device="cpu", value=value)
            for value in values
        )

    return OpCall(id=number, name=name, inputs=metas(read), outputs=metas((made,)), **fields)  # type: ignore[arg-type]


# Two blocks (x @ w, gelu) with the weights 1 and 2, computed again last first, what is kept detached.
CALLS = (
    called(0, "aten::mm", (0, 1), 3),
    called(1, "aten::gelu", (3,), 4),
    called(2, "aten::mm", (4, 2), 5),
    called(3, "aten::gelu", (5,), 6),
    called(4, "aten::mul", (6, 6), 7, phase="backward"),
    called(5, "aten::mm", (4, 2), 8, phase="backward"),
    called(6, "aten::detach", (8,), 8, phase="backward"),
    called(7, "aten::gelu", (8,), 9, phase="backward"),
    called(8, "aten::mm", (0, 1), 10, phase="backward"),
    called(9, "aten::mul", (10, 10), 11, phase="backward"),
)
NODES = {0: "one", 1: "one", 2: "two", 3: "two"}


def test_each_block_is_repeated_from_its_first_call() -> None:
    """The weight tells the block; the second block ends before its gelu."""
    traces = [OpTrace(call) for call in CALLS]
    for trace in traces[:4]:
        trace.compile_id, trace.joint = "0/0", [node(f"n{trace.call.id}")]
    target = "torch.ops.higher_order.tag_activation_checkpoint"
    dynamo = Graph(stage="dynamo", nodes=(node("one", target), node("two", target)))
    right = capture("compiled", compiler=compiler((graph(compile_id="0/0", dynamo=dynamo),)))
    left = capture("eager", op_calls=CALLS)
    result = Alignment(left, right, traces, Lineage(frames={}, nodes={}), {}, [])
    calls = [
        AttributedCall(
            name=call.name,
            overload="",
            shapes=tuple(meta.shape for meta in call.inputs),
            compile_id="0/0" if call.id in NODES else None,
            node=NODES.get(call.id),
            phase=call.phase,
        )
        for call in CALLS
    ]
    found = find_recomputed(result, calls, {index: index for index in range(len(CALLS))})
    assert found == {5, 7, 8}
    assert [[it.name for it in traces[index].joint] for index in (5, 7, 8)] == [
        ["n2"],
        ["n3"],
        ["n0"],
    ]
    assert {traces[index].certainty for index in found} == {"likely"}
