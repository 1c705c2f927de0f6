"""Compares results. In: a workload and its compiled form. Out: both sides' errors against float64.

Compared are outputs, gradients, and the inputs and buffers that a call wrote to. Each call starts
from the same inputs, module state and seed; afterwards the modules are as they were.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import msgspec
import torch
from torch.utils._pytree import tree_leaves, tree_map

from compdiff.capture.case_settings import Tolerance
from compdiff.capture.workload import Workload, clone_inputs, reseed
from compdiff.model import Numerics, OutputError

# Source: torch/testing/_comparison.py, the defaults of torch.testing.assert_close (torch 2.14).
TOLERANCES = {
    torch.float64: Tolerance(rtol=1e-7, atol=1e-7),
    torch.float32: Tolerance(rtol=1.3e-6, atol=1e-5),
    torch.float16: Tolerance(rtol=1e-3, atol=1e-5),
    torch.bfloat16: Tolerance(rtol=1.6e-2, atol=1e-5),
    torch.complex64: Tolerance(rtol=1.3e-6, atol=1e-5),
    torch.complex128: Tolerance(rtol=1e-7, atol=1e-7),
}
_EXACT = Tolerance(rtol=0.0, atol=0.0)
# How many times eager's own error against float64 a compiled result may have and still agree.
# Source: the rule of torch/_dynamo/utils.py: same(), which allows 2 or more, by dtype and size.
_ERROR_FACTOR = 2.0
# JSON has no infinity; stands for a value that is infinite or NaN on one side only.
LARGEST = sys.float_info.max

_RANDOM = (
    "The outputs change with the random seed, and Inductor draws other numbers than eager mode."
)
_UNSTABLE = "Eager mode itself gives other results from call to call."
_OTHER_SHAPES = "The two sides return other structures, shapes or dtypes."
_PRECISE = (
    "Some values differ by more than the tolerance, but are at most twice as far from the float64 "
    "reference as eager mode's."
)
_INFINITE = "Some values are infinite or NaN on one side only."


@dataclass(frozen=True)
class Results:
    """What one call left: its tensors (outputs, gradients, what it wrote to) and its other outputs.

    `tensors` holds None for a missing gradient. `written` holds every input and buffer after the
    call, and `changed` which of them differ from before.
    """

    tensors: list[torch.Tensor | None]
    written: list[torch.Tensor]
    changed: list[bool]
    others: list[object]

    def with_writes(self, mask: Sequence[bool]) -> "Results":
        """Return the same with the inputs and buffers that `mask` picks among the tensors."""
        picked = [tensor for tensor, wanted in zip(self.written, mask, strict=True) if wanted]
        return replace(self, tensors=[*self.tensors, *picked])


def compare(
    workload: Workload, compiled: Callable[..., object], seed: int = 0, *, strict: bool = False
) -> Numerics:
    """Return how far both sides are from a float64 eager reference and from each other.

    The sides agree (`within`) when each tensor passes the tolerance of its dtype, or is at most
    twice as far from the reference as eager's is; a case's own TOLERANCE is the only rule where it
    has one. Integers, booleans and outputs that are no tensors must be equal. With `strict` the
    tolerance is the only rule for all, and outputs that change with the seed are compared too.
    """
    left, right = _call(workload, workload.fn, seed), _call(workload, compiled, seed)
    if not _same_form(left, right):
        return Numerics(comparable=True, note=_OTHER_SHAPES, within=False)
    randomness = _randomness(workload, left, seed)
    mask = [a or b for a, b in zip(left.changed, right.changed, strict=True)]
    left, right = left.with_writes(mask), right.with_writes(mask)
    if randomness == _RANDOM and not strict:
        return Numerics(comparable=False, note=_RANDOM, tensors=len(left.tensors))
    # In float64 eager mode draws other numbers.
    reference, lack = (
        (None, "") if randomness == _RANDOM else _reference(workload, left, mask, seed)
    )
    numerics = _numerics(workload, left, right, reference, strict=strict)
    notes = (randomness, lack, numerics.note)
    return msgspec.structs.replace(numerics, note=" ".join(note for note in notes if note))


def tolerance_of(workload: Workload, tensor: torch.Tensor) -> Tolerance:
    """Return a tensor's tolerance: the case's, else by dtype; integers and booleans are exact."""
    if tensor.dtype not in TOLERANCES:
        return _EXACT
    return workload.tolerance or TOLERANCES[tensor.dtype]


# ---------------------------------------------------------------- one call


def _call(workload: Workload, fn: Callable[..., object], seed: int) -> Results:
    """Call `fn` on copies of the inputs; the state of the modules is put back afterwards."""
    args, kwargs = clone_inputs(workload)
    with restored(workload) as state:
        reseed(seed)
        outputs = tree_leaves(workload.call(fn, args, kwargs))
        inputs = _tensors((args, kwargs))
        before = [*_tensors((workload.args, workload.kwargs)), *(saved for _, saved in state)]
        after = [*inputs, *(tensor for tensor, _ in state)]
        tensors = [leaf for leaf in outputs if isinstance(leaf, torch.Tensor)]
        gradients = _gradients(workload, args, kwargs)
        return Results(
            tensors=[None if item is None else _copy(item) for item in (*tensors, *gradients)],
            written=[_copy(tensor) for tensor in after],
            changed=[not _equal(a, b) for a, b in zip(before, after, strict=True)],
            others=[leaf for leaf in outputs if not isinstance(leaf, torch.Tensor)],
        )


def _gradients(
    workload: Workload, args: tuple[object, ...], kwargs: dict[str, object]
) -> list[torch.Tensor | None]:
    if not workload.backward:
        return []
    return [tensor.grad for tensor in workload.differentiable(args, kwargs)]


@contextmanager
def restored(workload: Workload) -> Iterator[list[tuple[torch.Tensor, torch.Tensor]]]:
    """Give (tensor, copy) of all state beside the inputs; put the copies back at the end."""
    state = [(tensor, _copy(tensor)) for tensor in _state(workload)]
    try:
        yield state
    finally:
        with torch.no_grad():
            for tensor, saved in state:
                if not _equal(tensor, saved):
                    tensor.copy_(saved)


def _state(workload: Workload) -> list[torch.Tensor]:
    found: list[torch.Tensor] = list(workload.leaves)
    for module in workload.modules:
        found += [*module.parameters(), *module.buffers()]
    return list({id(tensor): tensor for tensor in found}.values())


def _tensors(tree: object) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


def _copy(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().clone()


# ---------------------------------------------------------------- the reference


def _reference(
    workload: Workload, left: Results, mask: Sequence[bool], seed: int
) -> tuple[Results | None, str]:
    """Return the results of eager mode in float64, or why there are none."""
    try:
        with in_float64(workload) as precise:
            found = _call(precise, precise.fn, seed).with_writes(mask)
    except Exception as error:  # noqa: BLE001 - the case may fail in any way
        reason = next(iter(str(error).strip().splitlines()), "")
        return None, f"No float64 reference: {type(error).__name__}: {reason}".rstrip(": ")
    if _shapes(found) != _shapes(left):
        return None, "No float64 reference: in float64 the case returns other shapes."
    return found, ""


@contextmanager
def in_float64(workload: Workload) -> Iterator[Workload]:
    """Give the workload with float64 inputs, and its modules float64 until the end.

    The modules are changed in place: `fn` may reach them as globals, where a copy would not be
    found.
    """
    saved = [(tensor, tensor.data) for tensor in _state(workload)]
    args, kwargs = tree_map(_double_leaf, (workload.args, workload.kwargs))
    try:
        for tensor, data in saved:
            tensor.grad = None  # a gradient of the old dtype does not fit
            tensor.data = _as_double(data)
        yield replace(workload, args=args, kwargs=kwargs)
    finally:
        for tensor, data in saved:
            tensor.grad = None
            tensor.data = data


def _double_leaf(value: object) -> object:
    return _as_double(value) if isinstance(value, torch.Tensor) else value


def _as_double(tensor: torch.Tensor) -> torch.Tensor:
    """Return a floating or complex tensor in double precision; others as they are."""
    if tensor.dtype not in TOLERANCES:
        return tensor
    dtype = torch.complex128 if tensor.is_complex() else torch.float64
    return tensor.detach().to(dtype).requires_grad_(tensor.requires_grad)


# ---------------------------------------------------------------- comparison


def _randomness(workload: Workload, left: Results, seed: int) -> str:
    """Return why eager mode's results are not those of every call, or "" when they are."""
    if _repeats(left, _call(workload, workload.fn, seed + 1)):
        return ""
    # Another seed, another result: numbers are drawn, or kernels add in no fixed order.
    return _RANDOM if _repeats(left, _call(workload, workload.fn, seed)) else _UNSTABLE


def _numerics(
    workload: Workload,
    left: Results,
    right: Results,
    reference: Results | None,
    *,
    strict: bool,
) -> Numerics:
    between = _pairs(left, right)
    rows = [tolerance_of(workload, tensor) for tensor, _ in between]
    near = [_close(a, b, row) for (a, b), row in zip(between, rows, strict=True)]
    precise = near
    if reference and workload.tolerance is None and not strict:
        both = zip(near, _pairs(left, reference), _pairs(right, reference), strict=True)
        precise = [ok or _as_precise(mine, other) for ok, mine, other in both]
    error = _error(between)
    notes = (_INFINITE if error.max_abs == LARGEST else "", _PRECISE if precise != near else "")
    return Numerics(
        comparable=True,
        note=" ".join(note for note in notes if note),
        tensors=len(between),
        left=_error(_pairs(left, reference)) if reference else None,
        right=_error(_pairs(right, reference)) if reference else None,
        between=error,
        rtol=max((row.rtol for row in rows), default=0.0),
        atol=max((row.atol for row in rows), default=0.0),
        within=all(precise) and _same_objects(left.others, right.others),
    )


def _pairs(a: Results, b: Results) -> list[tuple[torch.Tensor, torch.Tensor]]:
    together = zip(a.tensors, b.tensors, strict=True)
    return [(x, y) for x, y in together if x is not None and y is not None]


def _shapes(results: Results) -> list[object]:
    return [None if tensor is None else tensor.shape for tensor in results.tensors]


def _same_form(a: Results, b: Results) -> bool:
    dtypes = [[tensor.dtype for tensor in side.tensors if tensor is not None] for side in (a, b)]
    return _shapes(a) == _shapes(b) and dtypes[0] == dtypes[1] and len(a.others) == len(b.others)


def _same_objects(a: Sequence[object], b: Sequence[object]) -> bool:
    return all(_same_object(x, y) for x, y in zip(a, b, strict=True))


def _same_object(a: object, b: object) -> bool:
    """Return whether two outputs that are no tensors are equal, arrays by element."""
    if hasattr(a, "__array__") and hasattr(b, "__array__"):
        return _equal(torch.as_tensor(a), torch.as_tensor(b))
    both_nan = a != a and b != b  # noqa: PLR0124 - true for NaN only
    return bool(a == b) or both_nan


def _repeats(a: Results, b: Results) -> bool:
    mine, other = ([*side.tensors, *side.written] for side in (a, b))
    if not _same_form(a, b) or not _same_objects(a.others, b.others):
        return False
    return all(x is y or _equal(x, y) for x, y in zip(mine, other, strict=True) if x is not None)


def _equal(a: torch.Tensor, b: torch.Tensor | None) -> bool:
    """Return whether two tensors hold the same numbers, NaN equal to NaN."""
    return b is not None and a.shape == b.shape and _close(a, b, _EXACT)


def _close(a: torch.Tensor, b: torch.Tensor, tolerance: Tolerance) -> bool:
    if a.dtype not in TOLERANCES and a.layout == torch.strided:
        return torch.equal(a, b)  # large integers would be rounded as float64
    left, right = comparable(a), comparable(b)
    return torch.allclose(right, left, rtol=tolerance.rtol, atol=tolerance.atol, equal_nan=True)


def _as_precise(
    left: tuple[torch.Tensor, torch.Tensor], right: tuple[torch.Tensor, torch.Tensor]
) -> bool:
    """Return whether right is about as near to the reference as left, where numbers round."""
    if right[0].dtype not in TOLERANCES:
        return False
    (mine, _), (other, _) = differences(*left), differences(*right)
    return other < LARGEST and other <= _ERROR_FACTOR * mine


def _error(pairs: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> OutputError:
    found = [differences(value, expected) for value, expected in pairs]
    return OutputError(
        max_abs=max((absolute for absolute, _ in found), default=0.0),
        max_rel=max((relative for _, relative in found), default=0.0),
    )


def differences(value: torch.Tensor, expected: torch.Tensor) -> tuple[float, float]:
    """Return the largest absolute difference, and its ratio to the largest finite expected value.

    An element near zero has no meaningful relative error of its own, so the tensor's scale is used.
    Equal infinities, and NaN on both sides, differ by nothing; on one side only they give
    `LARGEST`, and so does the ratio of any difference to nothing but zeros.
    """
    if value.numel() == 0:
        return 0.0, 0.0
    value, expected = comparable(value), comparable(expected)
    same = (value == expected) | (value.isnan() & expected.isnan())
    gap = (value - expected).abs().masked_fill(same, 0.0).nan_to_num(nan=LARGEST, posinf=LARGEST)
    scale = float(expected.masked_fill(~expected.isfinite(), 0.0).abs().max())
    largest = float(gap.max())
    if not scale:
        return largest, LARGEST if largest else 0.0
    return largest, min(largest / scale, LARGEST)


def comparable(tensor: torch.Tensor) -> torch.Tensor:
    """Return the tensor dense and in float64, complex numbers as pairs."""
    dense = tensor if tensor.layout == torch.strided else tensor.to_dense()
    if dense.is_quantized:
        dense = dense.dequantize()
    resolved = torch.view_as_real(dense.resolve_conj()) if dense.is_complex() else dense
    return resolved.to(torch.float64)
