"""Types as FX prints them. In: a text such as `f32[10, 20][20, 1]cuda:0`. Out: TensorMeta records."""

import re

from compdiff.model import TensorMeta

# Shape, and where torch prints them strides and device. Source: torch/fx/graph.py: type_repr, _format_target (torch 2.14).
_TENSOR = re.compile(
    r"(?<![\w.])(?P<dtype>b?[a-z]\d+\w*)\[(?P<shape>[^\[\]]*)\](?:\[(?P<stride>[^\[\]]*)\])?(?P<device>[a-z]+(?::\d+)?)?"
)
# Source: torch/utils/_dtype_abbrs.py, c10/core/ScalarType (torch 2.14).
_DTYPES = {
    "b8": "bool",
    "bf16": "bfloat16",
    "c128": "complex128",
    "c32": "complex32",
    "c64": "complex64",
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "f8e4m3fn": "float8_e4m3fn",
    "f8e4m3fnuz": "float8_e4m3fnuz",
    "f8e5m2": "float8_e5m2",
    "f8e5m2fnuz": "float8_e5m2fnuz",
    "f8e8m0fnu": "float8_e8m0fnu",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "i8": "int8",
    "u16": "uint16",
    "u32": "uint32",
    "u64": "uint64",
    "u8": "uint8",
}


def tensors_of(annotation: str) -> tuple[TensorMeta, ...]:
    """Return the tensors that an annotation describes, in order; a symbolic size is -1."""
    return tuple(
        TensorMeta(
            shape=_sizes(match["shape"]),
            stride=_sizes(match["stride"] or ""),
            dtype=_DTYPES.get(match["dtype"], match["dtype"]),
            device=match["device"] or "",
        )
        for match in _TENSOR.finditer(annotation)
    )


def _sizes(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    return tuple(int(part) if part.isdecimal() and len(part) < 19 else -1 for part in parts)  # noqa: PLR2004 - int64
