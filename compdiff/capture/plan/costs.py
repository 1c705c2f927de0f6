"""Bytes that an op call moves, and the rate it computes at. In: an OpCall. Out: integers; a row name of peak_tflops.

Each tensor is read or written once: a lower bound of the traffic. A dimension with stride 0 is read once.
"""

import math

import torch

from compdiff.model import OpCall, TensorMeta

_BYTES = {
    "bool": 1,
    "uint8": 1,
    "int8": 1,
    "float8_e4m3fn": 1,
    "float8_e5m2": 1,
    "int16": 2,
    "float16": 2,
    "bfloat16": 2,
    "int32": 4,
    "float32": 4,
    "complex64": 8,
    "int64": 8,
    "float64": 8,
    "complex128": 16,
}
_DEFAULT_BYTES = 4
# Ops that read only the rows of their first input that the indices name.
_GATHERS = frozenset(
    {
        "embedding",
        "_embedding_bag",
        "_embedding_bag_forward_only",
        "gather",
        "index",
        "index_select",
    }
)


def tensor_bytes(meta: TensorMeta) -> int:
    """Return the bytes of a tensor's distinct elements."""
    strides = meta.stride or (1,) * len(meta.shape)
    sizes = (size for size, stride in zip(meta.shape, strides, strict=True) if stride != 0)
    return math.prod(sizes) * _BYTES.get(meta.dtype, _DEFAULT_BYTES)


def bytes_written(call: OpCall) -> int:
    """Return the bytes that a call writes: its outputs, unless it only looks at an input in another way."""
    if call.mutates:
        return sum(tensor_bytes(meta) for meta in call.outputs)
    inputs = {meta.storage for meta in call.inputs}
    return sum(tensor_bytes(meta) for meta in call.outputs if meta.storage not in inputs)


def bytes_read(call: OpCall) -> int:
    """Return the bytes that a call reads: each input once; of a table, as many as it writes."""
    written = {meta.storage for meta in call.outputs} if _has_out(call) else set()
    inputs = {
        (meta.storage, meta.shape, meta.stride): meta
        for meta in call.inputs
        if meta.storage not in written
    }
    metas = list(inputs.values())
    if call.name.rpartition("::")[2] in _GATHERS and metas:
        return sum(tensor_bytes(meta) for meta in metas[1:]) + bytes_written(call)
    return sum(tensor_bytes(meta) for meta in metas)


def rate_of(call: OpCall) -> str:
    """Return the row of `peak_tflops` that a call computes at: its first floating input's dtype, or `tf32`."""
    dtypes = [meta.dtype for meta in call.inputs if "float" in meta.dtype]
    return rate_of_dtype(dtypes[0] if dtypes else "float32")


def rate_of_dtype(dtype: str) -> str:
    """Return the row of `peak_tflops` for factors of a dtype: its name, or `tf32` where float32 is multiplied so."""
    if dtype == "float32" and torch.backends.cuda.matmul.allow_tf32:
        return "tf32"
    return dtype


def _has_out(call: OpCall) -> bool:
    """Return whether the call writes into a tensor given for its result (`out=`), which it does not read."""
    return call.mutates and ("out" in call.overload.split("_") or call.overload.endswith("_out"))
