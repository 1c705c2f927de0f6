"""Which attention backend torch would take on the target. In: the call's tensors, a Target. Out: a Choice; the call made.

Source: select_sdp_backend and check_prefer_cudnn_attention, aten/src/ATen/native/transformers/cuda/sdp_utils.cpp, and the
dispatch in aten/src/ATen/native/transformers/attention.cpp (torch 2.14). The rules are a table, documented in docs/plans.md.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - the name that everybody gives it

from compdiff.model import Target

_BACKENDS: Any = torch.backends  # some of its functions have no types
_HALF = frozenset({torch.float16, torch.bfloat16})
_DENSE_RANK = 4
_CUDNN_VERSION = 91501  # cuDNN is preferred when newer than 9.15
_WIDE_CUDNN_VERSION = 92201  # from it on cuDNN has head dimensions of 256
_WIDE_CAPABILITIES = frozenset({(9, 0), (10, 0), (10, 3)})
_HEAD_STEP = 8  # flash and cuDNN need head dimensions of a multiple of it
_FLASH_HEAD = 256
_CUDNN_HEAD, _WIDE_CUDNN_HEAD = 128, 256
_UNEVEN_HEADS = (192, 128)  # of query and value: cuDNN has them though they differ
_DROPOUT_STEPS = 16  # cuDNN knows dropout in sixteenths


@dataclass(frozen=True, slots=True, kw_only=True)
class AttentionCall:
    """What the selection depends on."""

    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor
    mask: torch.Tensor | None
    dropout: float
    causal: bool
    scale: float | None
    gqa: bool

    @property
    def head(self) -> int:
        """The head dimension."""
        return int(self.query.shape[-1])

    @property
    def dense(self) -> bool:
        """Whether all three tensors have the rank that the fused backends need, and rows to work on."""
        tensors = (self.query, self.key, self.value)
        return all(tensor.dim() == _DENSE_RANK and tensor.numel() > 0 for tensor in tensors)

    @property
    def one_head_size(self) -> bool:
        """Whether query, key and value have one head dimension."""
        return self.query.shape[-1] == self.key.shape[-1] == self.value.shape[-1]

    @property
    def heads(self) -> tuple[int, int]:
        """The head dimensions of query and value."""
        return self.head, int(self.value.shape[-1])

    @property
    def lengths(self) -> tuple[int, int]:
        """How many queries and keys there are."""
        return int(self.query.shape[-2]), int(self.key.shape[-2])

    @property
    def trains(self) -> bool:
        """Whether a gradient is asked for."""
        tensors = (self.query, self.key, self.value)
        return torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition of a backend: `text` says what must hold."""

    text: str
    holds: Callable[[AttentionCall, Target], bool]


@dataclass(frozen=True, slots=True)
class Choice:
    """The backend taken, and for each that comes before it the first condition that fails."""

    backend: str
    refused: tuple[str, ...]


def _half(call: AttentionCall, _: Target) -> bool:
    return call.query.dtype in _HALF


def _no_mask(call: AttentionCall, _: Target) -> bool:
    return call.mask is None


def _dense(call: AttentionCall, _: Target) -> bool:
    return call.dense


def _one_head_size(call: AttentionCall, _: Target) -> bool:
    return call.one_head_size


def _ampere(_: AttentionCall, target: Target) -> bool:
    return tuple(target.capability) >= (8, 0)


def _flash_head(call: AttentionCall, _: Target) -> bool:
    return call.head <= _FLASH_HEAD


def _one_batch(call: AttentionCall, _: Target) -> bool:
    return call.query.shape[0] == call.key.shape[0] == call.value.shape[0]


def _cudnn_head(call: AttentionCall, target: Target) -> bool:
    wide = tuple(target.capability) in _WIDE_CAPABILITIES
    limit = _WIDE_CUDNN_HEAD if wide and cudnn_version() >= _WIDE_CUDNN_VERSION else _CUDNN_HEAD
    fits = max(call.heads) <= limit or (wide and call.heads == _UNEVEN_HEADS)
    return fits and all(head % _HEAD_STEP == 0 for head in call.heads)


def _cudnn_gradient(call: AttentionCall, _: Target) -> bool:
    known = {_UNEVEN_HEADS, (_WIDE_CUDNN_HEAD, _WIDE_CUDNN_HEAD)}
    return not call.trains or max(call.heads) <= _CUDNN_HEAD or call.heads in known


def _cudnn_dropout(call: AttentionCall, _: Target) -> bool:
    return (call.dropout * _DROPOUT_STEPS).is_integer()


def _long(call: AttentionCall, _: Target) -> bool:
    queries, keys = call.lengths
    return keys != 1 and not (call.dropout > 0 and queries == 1)


def _square_if_causal(call: AttentionCall, _: Target) -> bool:
    queries, keys = call.lengths
    return not call.causal or queries == keys


def _one_query_head(call: AttentionCall, _: Target) -> bool:
    return call.query.shape[-1] == call.key.shape[-1]


def _gradient_head(call: AttentionCall, target: Target) -> bool:
    small = tuple(target.capability) in {(8, 6), (8, 9), (12, 0), (12, 1)}
    head = call.head
    refused = 192 < head <= 224 or (head > 224 and call.dropout > 0)  # noqa: PLR2004 - torch's own numbers
    return not (small and call.trains and refused)


def _efficient_dtype(call: AttentionCall, target: Target) -> bool:
    if call.query.dtype == torch.bfloat16:
        return tuple(target.capability) >= (8, 0)
    return call.query.dtype in {torch.float16, torch.float32}


def _efficient_head(call: AttentionCall, target: Target) -> bool:
    half = call.query.dtype in _HALF
    step = (8 if tuple(target.capability) >= (8, 0) else 4) if half else 4
    return call.head % step == 0 and int(call.value.shape[-1]) % step == 0


_RANK = Condition("query, key and value have four dimensions and elements", _dense)
_BATCH = Condition("one batch size", _one_batch)
CONDITIONS: dict[str, tuple[Condition, ...]] = {
    "cudnn": (
        _RANK,
        Condition("capability 8.0 or newer", _ampere),
        Condition("float16 or bfloat16", _half),
        _BATCH,
        Condition("dropout in sixteenths", _cudnn_dropout),
        Condition(
            "head dimensions that are multiples of 8, at most 256 (9.0 and 10.x) or 128",
            _cudnn_head,
        ),
        Condition("a head dimension that trains: at most 128, or 256", _cudnn_gradient),
        Condition("more than one key, and with dropout more than one query", _long),
    ),
    "flash": (
        _RANK,
        Condition("capability 8.0 or newer", _ampere),
        Condition("float16 or bfloat16", _half),
        Condition("no mask", _no_mask),
        Condition("one head dimension", _one_head_size),
        Condition("head dimension at most 256", _flash_head),
        Condition("a head dimension that trains on capability 8.6, 8.9 and 12.x", _gradient_head),
        Condition("as many queries as keys, if causal", _square_if_causal),
        _BATCH,
    ),
    "efficient": (
        _RANK,
        Condition("float16 or float32, or bfloat16 from capability 8.0 on", _efficient_dtype),
        Condition("head dimensions that the alignment allows", _efficient_head),
        Condition("one head dimension of query and key", _one_query_head),
        _BATCH,
    ),
    "math": (),
}
_ORDER = ("flash", "efficient", "math")


def cudnn_version() -> int:
    """Return the version of torch's cuDNN, as 91501 for 9.15.1; 0 without one."""
    return int(_BACKENDS.cudnn.version() or 0)


def prefers_cudnn(target: Target) -> bool:
    """Return whether torch asks cuDNN first: cuDNN newer than 9.15 on capability 9.0 or 10.x."""
    version = cudnn_version()
    deprioritized = os.environ.get("TORCH_CUDNN_SDPA_DEPRIORITIZED") == "1"
    fits = tuple(target.capability) in _WIDE_CAPABILITIES
    return fits and version >= _CUDNN_VERSION and not deprioritized


def choose_attention(call: AttentionCall, target: Target) -> Choice:
    """Return the first backend, in torch's order of preference, that is enabled and whose conditions hold."""
    enabled = {
        "cudnn": _BACKENDS.cuda.cudnn_sdp_enabled(),
        "flash": _BACKENDS.cuda.flash_sdp_enabled(),
        "efficient": _BACKENDS.cuda.mem_efficient_sdp_enabled(),
        "math": True,
    }
    refused = []
    for backend in (*(("cudnn",) if prefers_cudnn(target) else ()), *_ORDER):
        if not enabled[backend]:
            refused.append(f"{backend}: switched off")
            continue
        failed = next(
            (one.text for one in CONDITIONS[backend] if not one.holds(call, target)), None
        )
        if failed is None:
            return Choice(backend, tuple(refused))
        refused.append(f"{backend} needs {failed}")
    return Choice("math", tuple(refused))


def run_attention(call: AttentionCall, backend: str) -> torch.Tensor:
    """Make the call as torch's composite op makes it for a backend; return the attention's output."""
    return _RUNNERS[backend](call)


def _cudnn(call: AttentionCall) -> torch.Tensor:
    op = torch.ops.aten._scaled_dot_product_cudnn_attention.default  # noqa: SLF001 - the op's name
    out = op(
        call.query,
        call.key,
        call.value,
        _bias(call),
        call.trains,
        call.dropout,
        call.causal,
        False,  # noqa: FBT003 - the op's order
        scale=call.scale,
    )
    return out[0]  # type: ignore[no-any-return]


def _flash(call: AttentionCall) -> torch.Tensor:
    op = torch.ops.aten._scaled_dot_product_flash_attention.default  # noqa: SLF001 - the op's name
    padding = -call.head % _HEAD_STEP
    query, key, value = (
        F.pad(tensor, (0, padding)) if padding else tensor
        for tensor in (call.query, call.key, call.value)
    )
    scale = call.scale if call.scale is not None else call.head**-0.5
    out = op(query, key, value, call.dropout, call.causal, False, scale=scale)[0]  # noqa: FBT003
    return out[..., : call.head] if padding else out  # type: ignore[no-any-return]


def _efficient(call: AttentionCall) -> torch.Tensor:
    op = torch.ops.aten._scaled_dot_product_efficient_attention.default  # noqa: SLF001 - the op's name
    out = op(
        call.query,
        call.key,
        call.value,
        _bias(call),
        call.trains,
        call.dropout,
        call.causal,
        scale=call.scale,
    )
    return out[0]  # type: ignore[no-any-return]


def _math(call: AttentionCall) -> torch.Tensor:
    op = torch.ops.aten._scaled_dot_product_attention_math.default  # noqa: SLF001 - the op's name
    out = op(
        call.query,
        call.key,
        call.value,
        call.mask,
        call.dropout,
        call.causal,
        scale=call.scale,
        enable_gqa=call.gqa,
    )
    return out[0]  # type: ignore[no-any-return]


def _bias(call: AttentionCall) -> torch.Tensor | None:
    """Return the mask as the fused backends take it: additive, expanded to one row for each query."""
    mask = call.mask
    if mask is None:
        return None
    if mask.dtype == torch.bool:
        zero = torch.zeros((), dtype=call.query.dtype, device=call.query.device)
        mask = torch.where(mask, zero, float("-inf"))
    batch, heads, rows, _ = call.query.shape
    return mask.expand(batch, heads, rows, call.key.shape[2])


_RUNNERS: dict[str, Callable[[AttentionCall], torch.Tensor]] = {
    "cudnn": _cudnn,
    "flash": _flash,
    "efficient": _efficient,
    "math": _math,
}
