"""Call arguments as text. In: the arguments of an op call or FX node. Out: one short line without addresses or values."""

from collections.abc import Mapping

import torch

_MAX_LENGTH = 400


def argument_text(args: tuple[object, ...], kwargs: Mapping[str, object]) -> str:
    """Return the arguments as text: tensors as `T`, FX nodes by name, long texts cut to 400 characters."""
    parts = [_text(value) for value in args] + [
        f"{key}={_text(value)}" for key, value in kwargs.items()
    ]
    text = ", ".join(parts)
    return text if len(text) <= _MAX_LENGTH else text[: _MAX_LENGTH - 3] + "..."


def _text(value: object) -> str:
    if isinstance(value, torch.Tensor):
        return "T"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_text(item) for item in value) + "]"
    if isinstance(value, (torch.nn.Module, torch.Generator)) or callable(value):
        return getattr(value, "__name__", type(value).__name__)
    return str(value)
