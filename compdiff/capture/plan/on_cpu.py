"""Runs an op for the shapes of its results. In: an op call on fake tensors of the device. Out: fake tensors of the device.

A few ops (`fake_quantize`, `_scaled_mm.out`) have no rule that says what they return without running. Their kernels for the
CPU say it, run on zeros.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode, UnsupportedOperatorException
from torch.utils._mode_utils import no_dispatch
from torch.utils._pytree import tree_map, tree_unflatten

_CPU = torch.device("cpu")


def run_on_cpu(
    mode: FakeTensorMode,
    func: Any,
    flat_args: Sequence[Any],
    spec: Any,
    device: torch.device,
) -> Any:
    """Return what the op returns, its tensors fake and on `device`; what it was given to write into, as it is.

    Raises:
        UnsupportedOperatorException: the op has no kernel for the CPU, or returns what shares an input's memory.
    """
    if torch.Tag.inplace_view in func.tags:
        raise UnsupportedOperatorException(func)
    given: dict[int, Any] = {}
    with no_dispatch():
        real = [_real(mode, arg, given) for arg in flat_args]
        args, kwargs = tree_unflatten(real, spec)
        try:
            results = func(*args, **kwargs)
        except (NotImplementedError, RuntimeError) as error:
            raise UnsupportedOperatorException(func) from error
    memory = {it.untyped_storage()._cdata for it in real if _has_memory(it)}

    def faked(result: Any) -> Any:
        if id(result) in given or not isinstance(result, torch.Tensor):
            return given.get(id(result), result)
        if not _has_memory(result) or result.untyped_storage()._cdata in memory:
            raise UnsupportedOperatorException(func)
        with mode:
            return torch.empty_strided(
                result.shape, result.stride(), dtype=result.dtype, device=device
            )

    return tree_map(faked, results)


def _real(mode: FakeTensorMode, arg: Any, given: dict[int, Any]) -> Any:
    """Return zeros on the CPU for a fake tensor, noted in `given`; the CPU for a device; all else as it is."""
    if isinstance(arg, torch.device):
        return _CPU
    if not mode.is_our_fake(arg):
        return arg
    made = torch.zeros_like(arg, device=_CPU)
    given[id(made)] = arg
    return made


def _has_memory(value: object) -> bool:
    return isinstance(value, torch.Tensor) and value.layout == torch.strided
