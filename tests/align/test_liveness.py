"""Which op calls are needed."""

from compdiff.align.liveness import live_calls
from compdiff.model import OpCall, TensorMeta
from tests.builders import capture


def tensor(value: int, storage: int) -> TensorMeta:
    """Return a tensor with these contents in this memory."""
    return TensorMeta(shape=(4,), dtype="float32", device="cpu", value=value, storage=storage)


def call(
    number: int, name: str, inputs: list[TensorMeta], outputs: list[TensorMeta], **fields: bool
) -> OpCall:
    """Return an op call."""
    return OpCall(
        id=number,
        name=name,
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        **fields,  # type: ignore[arg-type]
    )


def live(*calls: OpCall, outputs: tuple[int, ...]) -> frozenset[int]:
    """Return the needed ones of some calls whose function returns these contents."""
    return live_calls(capture(op_calls=calls, output_values=outputs))


X = tensor(0, 0)


def test_what_reaches_an_output_is_needed() -> None:
    """And what nothing uses is not."""
    used = call(0, "aten::relu", [X], [tensor(1, 1)])
    unused = call(1, "aten::exp", [X], [tensor(2, 2)])
    assert live(used, unused, outputs=(1,)) == {0}


def test_an_unused_view_of_needed_memory_is_not_needed() -> None:
    """Only its base is."""
    view = call(0, "aten::unsqueeze", [X], [tensor(1, 0)])
    used = call(1, "aten::relu", [X], [tensor(2, 1)])
    assert live(view, used, outputs=(2,)) == {1}


def test_a_view_is_needed_whose_base_is_written_before_it_is_returned() -> None:
    """The write gives the contents another number, under which the view is returned."""
    fresh = call(0, "aten::relu", [X], [tensor(1, 1)])
    view = call(1, "aten::t", [tensor(1, 1)], [tensor(2, 1)])
    write = call(2, "aten::add_", [tensor(1, 1)], [tensor(3, 1)], mutates=True)
    assert 1 in live(fresh, view, write, outputs=(3,))


def test_a_write_into_an_input_is_needed() -> None:
    """The caller sees it."""
    assert live(call(0, "aten::add_", [X], [tensor(1, 0)], mutates=True), outputs=()) == {0}


def test_a_write_into_memory_that_nothing_uses_is_not_needed() -> None:
    """The function made the memory itself and throws it away."""
    fresh = call(0, "aten::relu", [X], [tensor(1, 1)])
    write = call(1, "aten::add_", [tensor(1, 1)], [tensor(2, 1)], mutates=True)
    assert live(fresh, write, outputs=(0,)) == frozenset()


def test_a_tensor_read_for_its_shape_is_not_needed() -> None:
    """`ones_like` keeps nothing alive but itself."""
    calls = (
        call(0, "aten::sin", [tensor(0, 0)], [tensor(1, 1)]),
        call(1, "aten::ones_like", [tensor(1, 1)], [tensor(2, 2)]),
    )
    assert live_calls(capture(op_calls=calls, output_values=(2,))) == {1}
