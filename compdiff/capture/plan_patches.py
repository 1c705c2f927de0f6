"""Makes torch and Inductor believe in a GPU that is not there. In: a Target. Out: a context in which cases can be planned.

Every patch is one context manager that puts back what it found; importing this module patches nothing. All of them touch
private names of torch, which stand only here and in capture/inductor.py. Sources: torch 2.14, files as named.
"""

import contextlib
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from unittest import mock

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_map

from compdiff.capture import inductor
from compdiff.capture.plan_attention import AttentionCall, choose_attention, run_attention
from compdiff.capture.plan_backward import RunningNode, run_backward
from compdiff.capture.plan_log import PlanLog, TritonKernel
from compdiff.capture.plan_recurrent import RECURRENT_OPS, recurrent
from compdiff.errors import CaptureError
from compdiff.model import Target

_KHZ = 1000
_BITS_PER_BYTE = 8
_DEVICE = torch.device("cuda", 0)


@contextlib.contextmanager
def pretended(target: Target, fake: FakeTensorMode, log: PlanLog) -> Iterator[None]:
    """Answer all that torch asks of a device while a case is planned; everything is put back at the end."""
    with contextlib.ExitStack() as stack:
        for patch in (
            _torch_cuda(target),
            _device_interface(target),
            _device_workers(target),
            _device_rates(target),
            _triton_driver(target),
            _inductor_settings(),
            _kernels_not_launched(log),
            _memory(fake),
            _graph_calls(log),
            _constant_folding(),
            _padding_decision(log),
            _attention(target, log),
            _values(fake, log),
            _module_moves(),
            _recurrent_weights(),
            _cuda_graphs(log),
            _backward(),
        ):
            stack.enter_context(patch)
        yield


# ---------------------------------------------------------------- what the device is


def device_properties(target: Target) -> types.SimpleNamespace:
    """Return what torch.cuda.get_device_properties would say of the target."""
    major, minor = target.capability
    return types.SimpleNamespace(
        name=target.title,
        major=major,
        minor=minor,
        multi_processor_count=target.multiprocessors,
        total_memory=target.memory_bytes,
        regs_per_multiprocessor=target.registers_per_multiprocessor,
        max_threads_per_multi_processor=target.threads_per_multiprocessor,
        max_threads_per_block=1024,
        warp_size=target.warp_size,
        shared_memory_per_block=48 * 1024,
        shared_memory_per_block_optin=target.shared_bytes_per_block,
        shared_memory_per_multiprocessor=target.shared_bytes_per_multiprocessor,
        L2_cache_size=target.l2_bytes,
        gcnArchName="",
        clock_rate=target.clock_mhz * _KHZ,
        # Both only give the bandwidth: clock (kHz) * 2 transfers * bus width (bits) / 8.
        memory_clock_rate=round(target.memory_gb_per_s * 1e6 * _BITS_PER_BYTE / 2 / 1024),
        memory_bus_width=1024,
    )


def supports_bfloat16(target: Target) -> bool:
    """Return whether the target computes in bfloat16 (capability 8.0 and newer)."""
    return tuple(target.capability) >= (8, 0)


@contextlib.contextmanager
def _torch_cuda(target: Target) -> Iterator[None]:
    """Answer for torch.cuda. `is_available` stays False: Dynamo saves the device's RNG state when it is True."""
    properties = device_properties(target)
    answers: dict[str, Callable[..., Any]] = {
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "get_device_properties": lambda *_: properties,
        "get_device_capability": lambda *_: tuple(target.capability),
        "get_device_name": lambda *_: target.title,
        "is_bf16_supported": lambda *_, **__: supports_bfloat16(target),
        "synchronize": lambda *_: None,
        "set_device": lambda _: None,
        "_lazy_init": lambda: None,
        "_exchange_device": lambda _: 0,
        "_maybe_exchange_device": lambda _: 0,
    }
    with contextlib.ExitStack() as stack:
        for name, answer in answers.items():
            stack.enter_context(mock.patch.object(torch.cuda, name, answer))
        stack.enter_context(mock.patch.object(torch._C, "_cuda_getCurrentRawStream", lambda _: 0))
        yield


@contextlib.contextmanager
def _device_interface(target: Target) -> Iterator[None]:
    """Answer for Dynamo's interface to CUDA. Source: torch/_dynamo/device_interface.py."""
    from torch._dynamo.device_interface import CudaInterface

    properties = device_properties(target)
    major, minor = target.capability
    answers: dict[str, Callable[..., Any]] = {
        "is_available": lambda: True,
        "current_device": lambda: 0,
        "device_count": lambda: 1,
        "get_device_properties": lambda *_: properties,
        "synchronize": lambda *_: None,
        "exchange_device": lambda _: 0,
        "maybe_exchange_device": lambda _: 0,
        "get_raw_stream": lambda _: 0,
        "is_bf16_supported": lambda *_, **__: supports_bfloat16(target),
        "get_compute_capability": lambda *_: 10 * major + minor,
        "is_triton_capable": lambda *_: True,
        "raise_if_triton_unavailable": lambda *_: None,
    }
    with contextlib.ExitStack() as stack:
        for name, answer in answers.items():
            stack.enter_context(mock.patch.object(CudaInterface, name, staticmethod(answer)))
        stack.enter_context(
            mock.patch("torch._inductor.scheduler.has_triton", lambda *_, **__: True)
        )
        yield


@contextlib.contextmanager
def _device_workers(target: Target) -> Iterator[None]:
    """Fill what compile workers keep of the device. Source: torch/_dynamo/device_interface.py."""
    from torch._dynamo import device_interface

    properties = {"cuda": [device_properties(target)]}
    current = {"cuda": 0}
    with (
        mock.patch.dict(device_interface.caching_worker_device_properties, properties),
        mock.patch.dict(device_interface.caching_worker_current_devices, current),
    ):
        yield


@contextlib.contextmanager
def _device_rates(target: Target) -> Iterator[None]:
    """Answer for the target's bandwidth and peak rates, by which Inductor decides what is compute-bound.

    Source: get_gpu_dram_gbps and get_device_tflops, torch/_inductor/utils.py.
    """
    from torch._inductor import scheduler, utils

    def tflops(dtype: torch.dtype) -> float:
        name = str(dtype).removeprefix("torch.")
        if dtype == torch.float32 and torch.backends.cuda.matmul.allow_tf32:
            name = "tf32"
        return target.peak_tflops.get(name, target.peak_tflops["float32"])

    with contextlib.ExitStack() as stack:
        for module in (utils, scheduler):
            stack.enter_context(mock.patch.object(module, "get_device_tflops", tflops))
            stack.enter_context(
                mock.patch.object(module, "get_gpu_dram_gbps", lambda: int(target.memory_gb_per_s))
            )
        yield


class _Driver:
    """The part of a Triton driver that compiling needs; nothing can be launched through it."""

    def __init__(self, target: Target) -> None:
        self._target = target

    def get_current_target(self) -> object:
        from triton.backends.compiler import GPUTarget

        major, minor = self._target.capability
        return GPUTarget("cuda", 10 * major + minor, self._target.warp_size)

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, _: object = None) -> int:
        return 0

    def get_device_interface(self) -> object:
        return torch.cuda

    def get_active_torch_device(self) -> torch.device:
        return _DEVICE

    def is_active(self) -> bool:
        return True

    @property
    def launcher_cls(self) -> object:
        """Refuse to launch: the case called a Triton kernel of its own outside compiled code."""
        raise CaptureError(
            "it cannot be planned: the case launches a Triton kernel itself, and the eager side would run it",
            "Measure it on a GPU with --device cuda.",
        )


@contextlib.contextmanager
def _triton_driver(target: Target) -> Iterator[None]:
    """Give Triton a driver that names the target. Source: triton/runtime/driver.py."""
    from torch._inductor.runtime import triton_helpers
    from triton.runtime import driver

    with (
        mock.patch.object(driver, "_active", _Driver(target)),
        mock.patch.object(triton_helpers, "set_driver_to_gpu", lambda: None),
    ):
        yield


# ---------------------------------------------------------------- what the compiled code calls


@contextlib.contextmanager
def _inductor_settings() -> Iterator[None]:
    """Compile in this process: the workers of Inductor's pool do not know of the target."""
    import torch._inductor.config as inductor_config

    with inductor_config.patch({"compile_threads": 1}):
        yield


@contextlib.contextmanager
def _kernels_not_launched(log: PlanLog) -> Iterator[None]:
    """Put stand-ins in the place of compiled kernels, and note how many bytes each kernel moves.

    Source: AsyncCompile, torch/_inductor/async_compile.py; TritonScheduling.define_kernel, torch/_inductor/codegen/triton.py.
    """
    from torch._inductor.async_compile import AsyncCompile
    from torch._inductor.codegen.triton import TritonScheduling

    define = TritonScheduling.define_kernel

    def define_kernel(self: Any, source: str, nodes: Any, kernel: Any) -> str:
        name = define(self, source, nodes, kernel)
        log.kernel_bytes[log.modules - 1, name] = int(kernel.estimate_kernel_num_bytes())
        return name

    def triton(_: Any, name: str, source: str, device_str: str = "cuda") -> TritonKernel:  # noqa: ARG001
        return TritonKernel(name, source, log)

    with (
        mock.patch.object(AsyncCompile, "triton", triton),
        mock.patch.object(AsyncCompile, "wait", lambda _, __: None),
        mock.patch.object(TritonScheduling, "define_kernel", define_kernel),
    ):
        yield


@contextlib.contextmanager
def _memory(fake: FakeTensorMode) -> Iterator[None]:
    """Give generated wrappers fake memory. Source: torch/csrc/dynamo/guards.cpp; torch/_inductor/codegen/wrapper.py."""
    from torch._inductor import compile_fx

    guards = torch._C._dynamo.guards

    def empty_strided(size: Any, stride: Any, dtype: torch.dtype) -> torch.Tensor:
        with _disable_current_modes(), fake:
            return torch.empty_strided(size, stride, dtype=dtype, device=_DEVICE)

    def reinterpret(tensor: torch.Tensor, size: Any, stride: Any, offset: int) -> torch.Tensor:
        with _disable_current_modes():
            return torch.as_strided(tensor, size, stride, tensor.storage_offset() + offset)

    with (
        mock.patch.object(guards, "_empty_strided_cuda", empty_strided),
        mock.patch.object(guards, "_reinterpret_tensor", reinterpret),
        # Fake tensors have no address to check the alignment of.
        mock.patch.object(compile_fx, "get_input_idxs_to_check", lambda *_: ()),
    ):
        yield


@contextlib.contextmanager
def _graph_calls(log: PlanLog) -> Iterator[None]:
    """Note when each compiled graph starts and ends. Source: GraphLowering.compile_to_module, torch/_inductor/graph.py."""
    from torch._inductor.graph import GraphLowering

    original = GraphLowering.compile_to_module

    def compile_to_module(self: Any) -> Any:
        log.modules += 1
        lowering = log.modules - 1
        module = original(self)
        call = module.call

        def planned_call(args: Any) -> Any:
            log.begin(lowering)
            try:
                return call(args)
            finally:
                log.end()

        module.call = planned_call
        return module

    with mock.patch.object(GraphLowering, "compile_to_module", compile_to_module):
        yield


# ---------------------------------------------------------------- what the compiler does on the device


@contextlib.contextmanager
def _constant_folding() -> Iterator[None]:
    """Fold constants on the CPU. Source: ConstantFolder, torch/_inductor/constant_folding.py."""
    from torch._inductor.constant_folding import ConstantFolder

    run_node = ConstantFolder.run_node

    def run_on_cpu(self: Any, node: Any) -> Any:
        with _OnCpu():
            return run_node(self, node)

    with mock.patch.object(ConstantFolder, "run_node", run_on_cpu):
        yield


class _OnCpu(TorchDispatchMode):
    """Makes on the CPU what is asked for on another device."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:  # the signature is torch's
        args, kwargs = tree_map(_on_cpu, (args, kwargs or {}))
        return func(*args, **kwargs)


def _on_cpu(value: object) -> object:
    return torch.device("cpu") if isinstance(value, torch.device) else value


@contextlib.contextmanager
def _padding_decision(log: PlanLog) -> Iterator[None]:
    """Pad where Inductor's own rules allow it, instead of timing both ways.

    The cache is asked after all rules (alignment, compute-bound) and before the benchmark: its answer is the decision.
    Source: _should_pad, torch/_inductor/fx_passes/pad_mm.py.
    """
    from torch._inductor.fx_passes import pad_mm

    def get_cached_should_pad(_: str) -> bool:
        log.note(
            "benchmark-dependent",
            "a matrix product with sizes that are not aligned was padded by Inductor's alignment rule: on a GPU "
            "Inductor times both ways and may decide otherwise",
        )
        return True

    with mock.patch.object(pad_mm, "get_cached_should_pad", get_cached_should_pad):
        yield


@contextlib.contextmanager
def _cuda_graphs(log: PlanLog) -> Iterator[None]:
    """Say what would be a CUDA graph, and make none. Source: torch/_inductor/output_code.py, compile_fx.py."""
    from torch._inductor import compile_fx, output_code

    def cudagraphify(model: Any, *_: Any, **__: Any) -> Any:
        log.note("cuda-graph", "a compiled graph would be replayed as a CUDA graph: one launch")
        return model

    with (
        mock.patch.object(compile_fx, "cudagraphify", cudagraphify),
        mock.patch.object(output_code, "prepare_cudagraph_post_compile", lambda *_, **__: None),
        mock.patch.object(
            output_code, "maybe_handle_backward_generation", lambda *_, **__: None
        ),
    ):
        yield


# ---------------------------------------------------------------- what the case does on the device


@contextlib.contextmanager
def _attention(target: Target, log: PlanLog) -> Iterator[None]:
    """Select the attention backend as the target would: torch's own selection asks a real device."""
    library = torch.library.Library("aten", "IMPL")

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
        log.note("attention-backend", f"attention is planned with the {choice.backend} backend{why}")
        return run_attention(call, choice.backend)

    for key in ("CUDA", "AutogradCUDA"):
        library.impl("scaled_dot_product_attention", attention, key)
    try:
        yield
    finally:
        library._destroy()


@contextlib.contextmanager
def _backward() -> Iterator[None]:
    """Run backward passes without torch's engine, which asks the driver for streams.

    Source: _engine_run_backward, torch/autograd/graph.py.
    """
    running = RunningNode()

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
        mock.patch.object(inductor, "running_autograd_node", running.identity),
    ):
        yield


@contextlib.contextmanager
def _values(fake: FakeTensorMode, log: PlanLog) -> Iterator[None]:
    """Assume a value where the case reads one from the device. Source: torch/_subclasses/fake_impls.py."""
    from torch._subclasses import fake_impls

    op = torch.ops.aten._local_scalar_dense.default
    original = fake_impls.op_implementations_dict[op]

    def local_scalar_dense(mode: FakeTensorMode, func: Any, tensor: FakeTensor) -> Any:
        if mode is not fake:
            return original(mode, func, tensor)
        log.assumed_values += 1
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


@contextlib.contextmanager
def _module_moves() -> Iterator[None]:
    """Let `module.to(device)` work on fake parameters, which torch cannot swap. Source: torch/nn/modules/module.py."""
    moved: dict[tuple[int, int], tuple[object, object, object]] = {}

    def apply(self: torch.nn.Module, fn: Callable[..., Any], recurse: bool = True) -> Any:  # noqa: FBT001, FBT002
        for child in self.children() if recurse else ():
            child._apply(fn)
        for name, parameter in self._parameters.items():
            if parameter is not None:
                self._parameters[name] = _moved(moved, fn, parameter)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    with mock.patch.object(torch.nn.Module, "_apply", apply):
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
def _recurrent_weights() -> Iterator[None]:
    """Leave the weights of recurrent layers as they are, which cuDNN would pack in one buffer, and run them by cuDNN's op."""
    library = torch.library.Library("aten", "IMPL")
    for name in RECURRENT_OPS:
        for key in ("CUDA", "AutogradCUDA"):
            library.impl(name, recurrent(name), key)
    try:
        with mock.patch.object(torch.nn.RNNBase, "flatten_parameters", lambda _: None):
            yield
    finally:
        library._destroy()


# ---------------------------------------------------------------- Triton's compiler


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledKernel:
    """One Triton kernel as compiled: the first of `candidates` configurations that a GPU would time."""

    cubin: bytes
    shared_bytes: int
    warps: int
    stages: int
    config: str
    candidates: int


def loaded_kernel(name: str, source: str) -> Callable[[], CompiledKernel]:
    """Load a generated kernel and return the function that compiles its first configuration; call both while pretending.

    Source: CachingAutotuner._precompile_config, torch/_inductor/runtime/triton_heuristics.py.
    """
    import torch._inductor.config as inductor_config
    from torch._inductor.async_compile import _load_triton_kernel_from_source

    tuner: Any = _load_triton_kernel_from_source(name, source)

    def compile_first() -> CompiledKernel:
        config = tuner.configs[0]
        with inductor_config.patch({"use_static_cuda_launcher": False}):
            binary = tuner._precompile_config(config).kernel
        tiles = ", ".join(f"{key}={value}" for key, value in sorted(config.kwargs.items()))
        return CompiledKernel(
            cubin=binary.asm["cubin"],
            shared_bytes=int(binary.metadata.shared),
            warps=int(binary.metadata.num_warps),
            stages=int(binary.metadata.num_stages),
            config=f"{tiles}, num_warps={config.num_warps}, num_stages={config.num_stages}",
            candidates=len(tuner.configs),
        )

    return compile_first
