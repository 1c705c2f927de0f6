"""Compares outputs. In: a workload and its compiled form. Out: the errors of both sides against float64, and between them."""

import copy
import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch
from torch.utils._pytree import tree_leaves, tree_map

from compdiff.capture.workload import Workload, clone_inputs, reseed
from compdiff.model import Numerics, OutputError

# Relative and absolute tolerance by the least precise dtype compared. Source: torch/testing/_comparison.py,
# the defaults of torch.testing.assert_close (torch 2.13).
TOLERANCES = {
    torch.float64: (1e-7, 1e-7),
    torch.float32: (1.3e-6, 1e-5),
    torch.float16: (1e-3, 1e-5),
    torch.bfloat16: (1.6e-2, 1e-5),
}
# Compiled code may sum in another order than eager mode does, which assert_close's float32 default does not allow for.
_REORDERED = 10
_TINY = 1e-12


@dataclass(frozen=True)
class _Results:
    """What one side gave: output tensors, gradients and inputs after the call, and the outputs that are no tensors."""

    tensors: list[torch.Tensor]
    others: list[object]


def compare(workload: Workload, compiled: Callable[..., object], seed: int = 0) -> Numerics:
    """Return how far both sides are from a float64 eager reference and from each other.

    Compared are outputs, gradients, and inputs that the call wrote to. Every side gets its own copies of the inputs and
    the same seed.
    """
    left = _results(workload, workload.fn, seed)
    right = _results(workload, compiled, seed)
    again = _results(workload, workload.fn, seed + 1)
    rtol, atol = tolerances(workload, left.tensors)
    if not _same_shapes(left, right):
        return Numerics(comparable=True, note="the two sides return different structures or shapes", within=False)
    if not _equal(left, again):
        note = "outputs depend on the random seed, and Inductor draws other numbers than eager mode"
        return Numerics(comparable=False, note=note, tensors=len(left.tensors), rtol=rtol, atol=atol)
    between = _error(left.tensors, right.tensors)
    reference, note = _reference(workload, seed)
    usable = reference is not None and _same_shapes(left, reference)
    if reference is not None and not usable:
        note = "no float64 reference: it returns other shapes"
    return Numerics(
        comparable=True,
        note=note,
        tensors=len(left.tensors),
        left=_error(left.tensors, reference.tensors) if reference and usable else None,
        right=_error(right.tensors, reference.tensors) if reference and usable else None,
        between=between,
        rtol=rtol,
        atol=atol,
        within=left.others == right.others and _within(left.tensors, right.tensors, rtol, atol),
    )


def tolerances(workload: Workload, tensors: Iterable[torch.Tensor]) -> tuple[float, float]:
    """Return (relative, absolute) tolerance: the case's own, else by the least precise dtype of the outputs."""
    pairs = [TOLERANCES[tensor.dtype] for tensor in tensors if tensor.dtype in TOLERANCES]
    rtol, atol = max(pairs, default=(0.0, 0.0))
    if workload.tolerance is not None:
        return workload.tolerance.rtol, workload.tolerance.atol
    return _REORDERED * rtol, _REORDERED * atol


def _results(workload: Workload, fn: Callable[..., object], seed: int) -> _Results:
    reseed(seed)
    args, kwargs = clone_inputs(workload)
    outputs = workload.call(fn, args, kwargs)
    gradients = []
    if workload.backward:
        gradients = [leaf.grad for leaf in workload.differentiable(args, kwargs) if leaf.grad is not None]
    leaves = tree_leaves(outputs)
    tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
    # Inputs are compared too: those that the call did not write to are equal on both sides.
    tensors += gradients + [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
    return _Results(
        tensors=[tensor.detach().clone() for tensor in tensors],
        others=[leaf for leaf in leaves if not isinstance(leaf, torch.Tensor)],
    )


def _reference(workload: Workload, seed: int) -> tuple[_Results | None, str]:
    """Return the results of the case in float64, or why there are none."""
    try:
        precise = in_float64(workload)
        return _results(precise, precise.fn, seed), ""
    except Exception as error:  # noqa: BLE001 - the case's own code may fail in any way; the reader is told which
        first_line = str(error).strip().splitlines()[0] if str(error).strip() else ""
        return None, f"no float64 reference: {type(error).__name__}: {first_line}"


def in_float64(workload: Workload) -> Workload:
    """Return a copy of the workload whose modules and floating inputs are float64; the original stays as it is."""
    twin = copy.deepcopy(workload)
    for module in twin.modules:
        module.double()
    args, kwargs = tree_map(_as_double, (twin.args, twin.kwargs))
    return dataclasses.replace(twin, args=args, kwargs=kwargs)


def _as_double(value: object) -> object:
    if isinstance(value, torch.Tensor) and value.is_floating_point():
        return value.detach().to(torch.float64).requires_grad_(value.requires_grad)
    return value


def _same_shapes(a: _Results, b: _Results) -> bool:
    return [t.shape for t in a.tensors] == [t.shape for t in b.tensors] and len(a.others) == len(b.others)


def _equal(a: _Results, b: _Results) -> bool:
    pairs = zip(a.tensors, b.tensors, strict=True)
    return _same_shapes(a, b) and all(torch.equal(x, y) or _close_nan(x, y) for x, y in pairs)


def _close_nan(x: torch.Tensor, y: torch.Tensor) -> bool:
    return torch.allclose(_comparable(x), _comparable(y), rtol=0, atol=0, equal_nan=True)


def _error(values: list[torch.Tensor], reference: list[torch.Tensor]) -> OutputError:
    """Return the largest absolute and relative difference; equal infinities and NaNs on both sides differ by nothing."""
    max_abs = max_rel = 0.0
    for value, expected in zip(values, reference, strict=True):
        absolute, relative = _differences(_comparable(value), _comparable(expected))
        max_abs, max_rel = max(max_abs, absolute), max(max_rel, relative)
    return OutputError(max_abs=max_abs, max_rel=max_rel)


def _differences(value: torch.Tensor, expected: torch.Tensor) -> tuple[float, float]:
    if value.numel() == 0:
        return 0.0, 0.0
    same = (value == expected) | (value.isnan() & expected.isnan())
    difference = (value - expected).abs().masked_fill(same, 0.0).nan_to_num(nan=float("inf"))
    # Relative to the largest value of the tensor: an element near zero has no meaningful relative error of its own.
    finite = expected.masked_fill(~expected.isfinite(), 0.0)
    scale = finite.abs().max().clamp_min(_TINY)
    largest = float(difference.max())
    return largest, float(largest / scale)


def _within(left: list[torch.Tensor], right: list[torch.Tensor], rtol: float, atol: float) -> bool:
    pairs = zip(left, right, strict=True)
    return all(torch.allclose(_comparable(b), _comparable(a), rtol=rtol, atol=atol, equal_nan=True) for a, b in pairs)


def _comparable(tensor: torch.Tensor) -> torch.Tensor:
    """Return the tensor as float64, complex numbers as pairs."""
    dense = tensor.to_dense() if tensor.layout != torch.strided else tensor
    real = torch.view_as_real(dense) if dense.is_complex() else dense
    return real.to(torch.float64)
