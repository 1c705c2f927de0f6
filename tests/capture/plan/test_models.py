"""Which modelled kernels an op call launches."""

import pytest

from compdiff.capture.plan.models import MODELS, model_of
from compdiff.model import OpCall, TensorMeta
from tests.builders import tensor

CUDA = "cuda:0"


def call(
    name: str, inputs: tuple[TensorMeta, ...], output: TensorMeta, *, mutates: bool = False
) -> OpCall:
    """Return an op call on these tensors."""
    return OpCall(id=0, name=name, inputs=inputs, outputs=(output,), mutates=mutates)


def meta(*shape: int, storage: int = 0, device: str = CUDA, dtype: str = "float32") -> TensorMeta:
    """Return a packed tensor of some storage."""
    packed = tensor(*shape, dtype=dtype, device=device)
    return TensorMeta(
        shape=packed.shape, stride=packed.stride, dtype=dtype, device=device, storage=storage
    )


def labels(made: OpCall) -> list[str]:
    """Return the labels of the kernels that the table gives for a call."""
    return [part.label for part in model_of(made).parts]


MATRIX = meta(4, 4)
OUT = meta(4, 4, storage=9)


def test_a_view_launches_nothing() -> None:
    """An output on the input's memory is a view, whatever the op is called."""
    assert labels(call("aten::anything", (MATRIX,), meta(16))) == []


def test_an_in_place_op_is_no_view() -> None:
    """Its output is on the input's memory too, and it writes."""
    assert labels(call("aten::relu_", (MATRIX,), MATRIX, mutates=True)) == ["kernel"]


def test_an_empty_tensor_launches_nothing() -> None:
    """No element, no kernel."""
    assert labels(call("aten::add", (meta(0, 4),), meta(0, 4, storage=9))) == []


def test_a_matrix_bias_is_copied_first() -> None:
    """Addmm with a matrix copies it into the output: two device activities."""
    assert labels(call("aten::addmm", (MATRIX, meta(4, 4, storage=1)), OUT)) == [
        "memcpy DtoD",
        "gemm",
    ]


def test_a_vector_bias_is_an_epilogue() -> None:
    """Addmm with a vector is one GEMM."""
    assert labels(call("aten::addmm", (meta(4), meta(4, 4, storage=1)), OUT)) == [
        "gemm with bias epilogue"
    ]


@pytest.mark.parametrize(
    ("source", "result", "expected"),
    [
        (meta(4, 4), meta(4, 4, storage=9), ["memcpy DtoD"]),
        (meta(4, 4), meta(4, 4, storage=9, dtype="float16"), ["kernel"]),
        (meta(4, 4, device="cpu"), meta(4, 4, storage=9), ["memcpy between devices"]),
    ],
)
def test_copies_by_what_changes(
    source: TensorMeta, result: TensorMeta, expected: list[str]
) -> None:
    """The same layout is a memcpy, another dtype a kernel, another device a transfer."""
    assert labels(call("aten::_to_copy", (source,), result)) == expected


def test_the_last_row_fits_all() -> None:
    """Each op call has a row."""
    assert MODELS[-1].fits(call("aten::never_heard_of", (MATRIX,), OUT))


def test_rows_have_names_of_their_own() -> None:
    """A modelled kernel names its row, which must say which one it is."""
    assert len({row.name for row in MODELS}) == len(MODELS)


@pytest.mark.parametrize("name", ["aten::squeeze_", "aten::transpose_", "aten::t_"])
def test_a_view_in_place_launches_nothing(name: str) -> None:
    """Its schema says that it changes its tensor, but no memory is written."""
    assert labels(call(name, (meta(4, 1),), meta(4), mutates=True)) == []


def test_a_higher_order_op_says_that_its_function_is_not_seen() -> None:
    """Eager mode may launch many kernels in it."""
    assert "not seen" in model_of(call("higher_order::cond", (MATRIX,), OUT)).name


def test_cudnn_normalizes_in_one_kernel() -> None:
    """Statistics and transform are one kernel of cuDNN, two of ATen."""
    assert labels(call("aten::cudnn_batch_norm", (MATRIX,), OUT)) == ["batch norm"]
    assert len(labels(call("aten::native_batch_norm", (MATRIX,), OUT))) == 2
