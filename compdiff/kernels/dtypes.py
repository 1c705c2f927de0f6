"""Names of data types. In: how a library writes a type. Out: the short names that every output uses (`bf16`).

The same short names as `report.naming`; `tf32` is float32 data with tensor-core products of 10 mantissa bits.
"""

import re
from collections.abc import Iterable

_CPP = {
    "float": "f32", "double": "f64", "c10::Half": "f16", "__half": "f16", "half": "f16", "_Float16": "f16",
    "cutlass::half_t": "f16", "c10::BFloat16": "bf16", "__nv_bfloat16": "bf16", "__hip_bfloat16": "bf16",
    "nv_bfloat16": "bf16", "hip_bfloat16": "bf16", "cutlass::bfloat16_t": "bf16", "__bf16": "bf16",
    "cutlass::tfloat32_t": "tf32", "long": "i64", "int": "i32", "short": "i16", "signed char": "i8",
    "unsigned char": "u8", "bool": "bool", "c10::complex<float>": "c64", "c10::complex<double>": "c128",
    "cuComplex": "c64", "cuDoubleComplex": "c128", "int8_t": "i8", "uint8_t": "u8", "c10::Float8_e4m3fn": "f8e4m3",
    "c10::Float8_e5m2": "f8e5m2", "c10::Float8_e4m3fnuz": "f8e4m3", "c10::Float8_e5m2fnuz": "f8e5m2",
    "__nv_fp8_e4m3": "f8e4m3", "__nv_fp8_e5m2": "f8e5m2", "cutlass::float_e4m3_t": "f8e4m3",
    "cutlass::float_e5m2_t": "f8e5m2", "hip_fp8": "f8e4m3", "__hip_fp8_e4m3_fnuz": "f8e4m3",
    "std::bfloat16_t": "bf16", "__nv_bfloat162": "bf16", "__half2": "f16",
}  # fmt: skip
_LONGEST = 64
_QUALIFIERS = re.compile(r"^const | const\b.*$|[ *&]+$")
# As one token of an underscored name, or several run together: f16, bf16f32, cf32, e4m3e5m2.
_ONE = r"c?bf16|c?tf32|c?fp?(?:64|32|16)|fp8|f8|e[245]m[0123]|ue8m0|[isu](?:64|32|16|8|4)|int[48]|i8|b1"
_TOKEN = re.compile(rf"(?:{_ONE}){{1,4}}")
_PART = re.compile(_ONE)
_SHORT = {
    "fp16": "f16", "fp32": "f32", "fp64": "f64", "fp8": "f8", "s8": "i8", "s32": "i32", "int8": "i8", "int4": "i4",
    "s4": "i4", "e4m3": "f8e4m3", "e5m2": "f8e5m2", "e2m1": "f4e2m1", "ue8m0": "f8ue8m0", "cf32": "c64",
    "cf64": "c128", "s64": "i64",
}  # fmt: skip


def unique(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names that are not empty, once each, in order of first mention."""
    return tuple(dict.fromkeys(name for name in names if name))


def cpp_dtype(text: str) -> str:
    """Return the short name of a C++ type, pointer or const alike: `c10::BFloat16 const*` is `bf16`; "" for others."""
    return _CPP.get(_QUALIFIERS.sub("", text).strip(), "") if len(text) <= _LONGEST else ""


def token_dtypes(token: str) -> tuple[str, ...]:
    """Return the types that a token of an underscored name is made of: `bf16f32` gives bf16 and f32."""
    if not _TOKEN.fullmatch(token):
        return ()
    return tuple(_SHORT.get(part, part) for part in _PART.findall(token))
