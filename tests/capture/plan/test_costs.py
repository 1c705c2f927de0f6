"""Bytes that op calls move."""

from compdiff.capture.plan.costs import bytes_read, bytes_written, tensor_bytes
from compdiff.model import OpCall, TensorMeta


def meta(
    shape: tuple[int, ...], stride: tuple[int, ...], storage: int, dtype: str = "float32"
) -> TensorMeta:
    """Return a tensor on some storage."""
    return TensorMeta(shape=shape, stride=stride, dtype=dtype, device="cuda:0", storage=storage)


def test_an_expanded_dimension_is_read_once() -> None:
    """Stride 0 shows the same elements again."""
    assert tensor_bytes(meta((8, 4), (0, 1), 0, "bfloat16")) == 8


def test_an_input_given_twice_is_read_once() -> None:
    """X * x reads x once."""
    x = meta((4,), (1,), 0)
    call = OpCall(id=0, name="aten::mul", inputs=(x, x), outputs=(meta((4,), (1,), 1),))
    assert (bytes_read(call), bytes_written(call)) == (16, 16)


def test_a_view_moves_nothing_to_memory() -> None:
    """A view's output is no new memory."""
    call = OpCall(
        id=0, name="aten::t", inputs=(meta((4, 4), (4, 1), 0),), outputs=(meta((4, 4), (1, 4), 0),)
    )
    assert bytes_written(call) == 0


def test_a_given_output_is_written_not_read() -> None:
    """`out=` names where the result goes."""
    a, out = meta((4, 4), (4, 1), 0), meta((4, 4), (4, 1), 1)
    call = OpCall(
        id=0, name="aten::mm", overload="out", inputs=(a, a, out), outputs=(out,), mutates=True
    )
    assert (bytes_read(call), bytes_written(call)) == (64, 64)


def test_an_in_place_op_reads_and_writes() -> None:
    """add_ reads what it writes."""
    x = meta((4,), (1,), 0)
    call = OpCall(
        id=0, name="aten::add_", overload="Tensor", inputs=(x,), outputs=(x,), mutates=True
    )
    assert (bytes_read(call), bytes_written(call)) == (16, 16)


def test_a_look_up_reads_the_rows_it_gives() -> None:
    """An embedding does not read its whole table."""
    call = OpCall(
        id=0,
        name="aten::embedding",
        inputs=(meta((1000, 8), (8, 1), 0), meta((2,), (1,), 1, "int64")),
        outputs=(meta((2, 8), (8, 1), 2),),
    )
    assert bytes_read(call) == 2 * 8 + 2 * 8 * 4
