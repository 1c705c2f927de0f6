"""Answers for what a case does on the device. In: a Target, a PlanLog. Out: patches, as context managers.

Private names of torch; sources (torch 2.14) as named. Importing this module patches nothing.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from unittest import mock

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

from compdiff.capture import inductor
from compdiff.capture.plan.attention import AttentionCall, choose_attention, run_attention
from compdiff.capture.plan.backward import RunningNode, run_backward
from compdiff.capture.plan.log import PlanLog, ValueReadError
from compdiff.capture.plan.on_cpu import run_on_cpu
from compdiff.capture.plan.recurrent import RECURRENT_OPS, gru_cell, recurrent
from compdiff.errors import CaptureError
from compdiff.model import Target

_MOST_ASSUMED = 10_000
_LIBRARY: Any = torch.library  # its class has no types


@contextlib.contextmanager
def attention(target: Target, log: PlanLog) -> Iterator[None]:
    """Select the attention backend as the target would: torch's own selection asks a real device."""
    library = _LIBRARY.Library("aten", "IMPL")

    def attention(  # noqa: PLR0913, PLR0917 - the op's own arguments
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        attn_mask: torch.Tensor | None = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,  # noqa: FBT001, FBT002
        *,
        scale: float | None = None,
        enable_gqa: bool = False,
    ) -> torch.Tensor:
        call = AttentionCall(
            query=query,
            key=key,
            value=value,
            mask=attn_mask,
            dropout=dropout_p,
            causal=is_causal,
            scale=scale,
            gqa=enable_gqa,
        )
        choice = choose_attention(call, target)
        why = f" ({'; '.join(choice.refused)})" if choice.refused else ""
        log.note(
            "attention-backend", f"attention is planned with the {choice.backend} backend{why}"
        )
        return run_attention(call, choice.backend)

    for key in ("CUDA", "AutogradCUDA"):
        library.impl("scaled_dot_product_attention", attention, key)
    try:
        yield
    finally:
        library._destroy()


@contextlib.contextmanager
def backward() -> Iterator[None]:
    """Run backward passes without torch's engine, which asks the driver for streams.

    Dynamo leaves them alone, as it does the engine. Source: _engine_run_backward, torch/autograd/graph.py.
    """
    running = RunningNode()

    # Dynamo compiles a function that calls `backward` up to the call and after it: it must not trace the engine itself.
    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def engine_run_backward(  # noqa: PLR0913, PLR0917 - the engine's own arguments
        roots: Any,
        gradients: Any,
        retain_graph: bool,  # noqa: ARG001, FBT001
        create_graph: bool,  # noqa: FBT001
        inputs: Any,
        allow_unreachable: bool = False,  # noqa: ARG001, FBT001, FBT002
        accumulate_grad: bool = False,  # noqa: FBT001, FBT002
    ) -> Any:
        return run_backward(
            running,
            roots,
            gradients,
            create_graph=create_graph,
            inputs=inputs,
            accumulate=accumulate_grad,
        )

    with (
        mock.patch.object(torch.autograd, "_engine_run_backward", engine_run_backward),
        mock.patch.object(torch.autograd.graph, "_engine_run_backward", engine_run_backward),
        mock.patch.object(torch._C, "_current_graph_task_id", running.current_pass),
        mock.patch.object(inductor, "running_autograd_node", running.identity),
    ):
        yield


@contextlib.contextmanager
def values(fake: FakeTensorMode, log: PlanLog) -> Iterator[None]:
    """Assume a value where the case reads one from the device. Source: torch/_subclasses/fake_impls.py."""
    from torch._subclasses import fake_impls

    op = torch.ops.aten._local_scalar_dense.default
    original = fake_impls.op_implementations_dict[op]

    def local_scalar_dense(mode: FakeTensorMode, func: Any, tensor: FakeTensor) -> Any:
        if mode is not fake:
            return original(mode, func, tensor)
        if log.loading:
            raise ValueReadError
        _count_assumed(log)
        value = torch.ones((), dtype=tensor.dtype, device="meta").dtype
        assumed: bool | int | float = 1.0 if value.is_floating_point else 1
        assumed = True if value == torch.bool else assumed
        log.note(
            "assumed-value",
            f"the case reads a {str(value).removeprefix('torch.')} value from the device (.item(), bool() or the like), "
            f"which a plan does not know: {assumed} was assumed",
        )
        return assumed

    with mock.patch.dict(fake_impls.op_implementations_dict, {op: local_scalar_dense}):
        yield


def _count_assumed(log: PlanLog) -> None:
    """Count one more assumed value; a loop that waits for another one never ends."""
    log.assumed_values += 1
    if log.assumed_values > _MOST_ASSUMED:
        raise CaptureError(
            f"the case read {_MOST_ASSUMED:,} values from the device (.item(), bool() or the like): it may loop until one "
            "changes, which it never does in a plan",
            "Take the loop out of the function, or measure the case on a GPU.",
        )


@contextlib.contextmanager
def module_moves() -> Iterator[None]:
    """Let `module.to(device)` work on fake parameters, which torch cannot swap. Source: torch/nn/modules/module.py."""
    moved: dict[tuple[int, int], tuple[object, object, object]] = {}

    def apply(self: torch.nn.Module, fn: Callable[..., Any], recurse: bool = True) -> Any:  # noqa: FBT001, FBT002
        for child in self.children() if recurse else ():
            apply(child, fn)
        for name, parameter in self._parameters.items():
            if parameter is not None:
                self._parameters[name] = _moved(moved, fn, parameter)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    with mock.patch.object(torch.nn.Module, "_apply", apply):
        yield


@contextlib.contextmanager
def copies() -> Iterator[None]:
    """Let `copy.deepcopy` of a module work: it would give each fake tensor a mode of its own, and modes do not mix.

    Source: Tensor.__deepcopy__, torch/_tensor.py.
    """
    with mock.patch.object(FakeTensorMode, "__deepcopy__", lambda mode, _: mode, create=True):
        yield


@contextlib.contextmanager
def kernels_for_shapes() -> Iterator[None]:
    """Run an op that has no rule for its result's shape on zeros on the CPU: torch would run it on the device.

    Source: run_fallback_kernel, torch/_subclasses/fake_tensor.py.
    """
    from torch._subclasses import fake_impls, fake_tensor

    original = fake_tensor.run_fallback_kernel

    def on_cpu(
        mode: FakeTensorMode, func: Any, flat_args: Sequence[Any], spec: Any, error: RuntimeError
    ) -> Any:
        devices = {arg.fake_device for arg in flat_args if mode.is_our_fake(arg)}
        device = next((it for it in devices if it.type != "cpu"), None)
        if device is None:
            return original(mode, func, flat_args, spec, error)
        return run_on_cpu(mode, func, flat_args, spec, device)

    with (
        mock.patch.object(fake_tensor, "run_fallback_kernel", on_cpu),
        mock.patch.object(fake_impls, "run_fallback_kernel", on_cpu),
    ):
        yield


def _moved(
    moved: dict[tuple[int, int], tuple[object, object, object]],
    fn: Callable[..., Any],
    parameter: torch.nn.Parameter,
) -> torch.nn.Parameter:
    """Return the parameter as `fn` makes it: the same for all modules that share it."""
    key = (id(fn), id(parameter))
    if key not in moved:
        with torch.no_grad():
            result = fn(parameter)
        made = (
            parameter
            if result is parameter
            else torch.nn.Parameter(result, requires_grad=parameter.requires_grad)
        )
        # The function and the old parameter are kept, so that their ids stay theirs.
        moved[key] = (fn, parameter, made)
    return moved[key][2]  # type: ignore[return-value]


@contextlib.contextmanager
def recurrent_weights() -> Iterator[None]:
    """Run recurrent layers by cuDNN's op, and leave their weights unpacked: packing writes them into one device buffer."""
    library = _LIBRARY.Library("aten", "IMPL")
    for name in RECURRENT_OPS:
        for key in ("CUDA", "AutogradCUDA"):
            library.impl(name, recurrent(name), key)
    library.impl("_thnn_fused_gru_cell", gru_cell, "Meta")
    try:
        with mock.patch.object(torch.nn.RNNBase, "flatten_parameters", lambda _: None):
            yield
    finally:
        library._destroy()
