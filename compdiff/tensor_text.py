"""Texts and sizes of tensors. In: TensorMeta. Out: `f32[2, 3]`, and how many bytes that is."""

import math
from functools import lru_cache

from compdiff.model import TensorMeta

_DTYPES = {
    "float64": "f64",
    "float32": "f32",
    "float16": "f16",
    "bfloat16": "bf16",
    "int64": "i64",
    "int32": "i32",
    "int16": "i16",
    "int8": "i8",
    "uint8": "u8",
    "bool": "bool",
    "complex64": "c64",
    "complex128": "c128",
}
_BYTES = {"bool": 1, "complex64": 8, "complex128": 16}
_BITS = 8


def tensor_text(meta: TensorMeta) -> str:
    """Return dtype and shape, and the strides where they are not those of a packed tensor: `f32[2, 3]`."""
    return _text(meta.dtype, meta.shape, meta.stride)


def shape_text(meta: TensorMeta) -> str:
    """Return dtype and shape alone: `f32[2, 3]`."""
    return _text(meta.dtype, meta.shape, ())


# Layers repeat, and so do their tensors.
@lru_cache(maxsize=1 << 13)
def _text(dtype: str, shape: tuple[int, ...], strides: tuple[int, ...]) -> str:
    packed = not strides or strides == packed_strides(shape) or _is_trivial(shape, strides)
    layout = "" if packed else f" strides ({', '.join(map(str, strides))})"
    return f"{_DTYPES.get(dtype, dtype)}[{', '.join(map(str, shape))}]{layout}"


def packed_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides of a row-major tensor without gaps."""
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def _is_trivial(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Return whether only dimensions of size 1 differ from packed strides: such strides move nothing."""
    pairs = zip(shape, strides, packed_strides(shape), strict=False)
    return all(size == 1 or stride == packed for size, stride, packed in pairs)


def size_bytes(meta: TensorMeta) -> int:
    """Return how many bytes a tensor's elements take; 0 where a size or the dtype is not known."""
    digits = "".join(char for char in meta.dtype.partition("_")[0] if char.isdigit())
    size = _BYTES.get(meta.dtype) or int(digits or 0) // _BITS or 0
    return 0 if any(dim < 0 for dim in meta.shape) else math.prod(meta.shape) * size
