"""Arguments of an op as a profiler records them. In: an event's `args`. Out: TensorMeta records, and texts."""

from collections.abc import Iterator, Mapping

from compdiff.model import TensorMeta

_DIMS = ("Input Dims", "Input dims")
_TYPES = ("Input type", "Input Type")
_STRIDES = ("Input Strides", "Input strides")
# C++ element types by the names of torch's dtypes. Source: torch/csrc/profiler/util.cpp: getRecordFunctionTensorMetadata.
_DTYPES = {
    "float": "float32",
    "double": "float64",
    "c10::BFloat16": "bfloat16",
    "c10::Half": "float16",
    "at::Half": "float16",
    "long int": "int64",
    "long": "int64",
    "int": "int32",
    "short int": "int16",
    "short": "int16",
    "signed char": "int8",
    "unsigned char": "uint8",
    "bool": "bool",
    "c10::complex<float>": "complex64",
    "c10::complex<double>": "complex128",
    "c10::Float8_e4m3fn": "float8_e4m3fn",
    "c10::Float8_e5m2": "float8_e5m2",
    "c10::Float8_e4m3fnuz": "float8_e4m3fnuz",
    "c10::Float8_e5m2fnuz": "float8_e5m2fnuz",
}


def input_tensors(arguments: Mapping[str, object], device: str) -> tuple[TensorMeta, ...]:
    """Return the tensors among an op's inputs, in order, lists of tensors in place; none where shapes were not recorded."""
    dims, types = _listed(arguments, _DIMS), _listed(arguments, _TYPES)
    strides = _listed(arguments, _STRIDES)
    found: list[TensorMeta] = []
    for index, shape in enumerate(dims):
        dtype = types[index] if index < len(types) else ""
        stride = strides[index] if index < len(strides) else ()
        found += _tensors(shape, dtype, stride, device)
    return tuple(found)


def _tensors(shape: object, dtype: object, stride: object, device: str) -> Iterator[TensorMeta]:
    if isinstance(shape, list) and shape and all(isinstance(item, list) for item in shape):
        strides = (
            stride if isinstance(stride, list) and len(stride) == len(shape) else [()] * len(shape)
        )
        for inner, inner_stride in zip(shape, strides, strict=True):
            yield TensorMeta(
                shape=_ints(inner), stride=_ints(inner_stride), dtype="", device=device
            )
    elif isinstance(dtype, str) and dtype in _DTYPES:
        yield TensorMeta(
            shape=_ints(shape), stride=_ints(stride), dtype=_DTYPES[dtype], device=device
        )
    elif _ints(shape):
        yield TensorMeta(shape=_ints(shape), stride=_ints(stride), dtype="", device=device)


def argument_text(arguments: Mapping[str, object]) -> str:
    """Return an op's concrete inputs: `T` for a tensor, `-` for what was not recorded; "" where none were."""
    values = _listed(arguments, ("Concrete Inputs",))
    types = _listed(arguments, _TYPES)
    shown = [
        "T" if index < len(types) and types[index] in _DTYPES else (str(value) or "-")
        for index, value in enumerate(values)
    ]
    return ", ".join(shown)


def _listed(arguments: Mapping[str, object], names: tuple[str, ...]) -> list[object]:
    value = next((arguments[name] for name in names if name in arguments), None)
    return value if isinstance(value, list) else []


def _ints(value: object) -> tuple[int, ...]:
    if not isinstance(value, list):
        return ()
    return tuple(item for item in value if isinstance(item, int) and not isinstance(item, bool))
