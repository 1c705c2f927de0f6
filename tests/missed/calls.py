"""Left op calls with data flow. In: names and numbers of values. Out: op calls."""

import msgspec

from compdiff.model import OpCall, TensorMeta
from tests.builders import tensor


def value(number: int, *shape: int, dtype: str = "bfloat16", device: str = "cuda:0") -> TensorMeta:
    """Return a tensor whose contents and memory have this number."""
    meta = tensor(*shape, dtype=dtype, device=device)
    return msgspec.structs.replace(meta, value=number, storage=number)


def call(number: int, name: str, takes: tuple[TensorMeta, ...], gives: TensorMeta) -> OpCall:
    """Return an op call on these tensors."""
    arguments = ", ".join("T" for _ in takes)
    return OpCall(id=number, name=name, inputs=takes, outputs=(gives,), arguments=arguments)
