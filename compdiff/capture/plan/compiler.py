"""Lets Inductor compile and its code run without a device. In: fake tensors, a PlanLog. Out: patches, as context managers.

Private names of torch; sources (torch 2.14) as named. Importing this module patches nothing.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from unittest import mock

import torch
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_map

from compdiff.capture.plan.device import DEVICE, FakeTensorMode
from compdiff.capture.plan.log import CppKernel, PlanLog, TritonKernel
from compdiff.capture.plan.traffic import traffic_of

_CHOICES = 6  # the place of `choices` in do_autotuning's arguments, self counted
_SHOWN_CHOICES = 6


@contextlib.contextmanager
def inductor_settings() -> Iterator[None]:
    """Compile in this process, whose workers would not know of the target, and time no fusion on the device."""
    import torch._inductor.config as inductor_config

    with inductor_config.patch({"compile_threads": 1, "benchmark_epilogue_fusion": False}):
        yield


@contextlib.contextmanager
def kernels_not_launched(log: PlanLog) -> Iterator[None]:
    """Put stand-ins in the place of compiled kernels, and note how many bytes each kernel moves.

    Source: AsyncCompile, torch/_inductor/async_compile.py; TritonScheduling, torch/_inductor/codegen/triton.py.
    """
    from torch._inductor.async_compile import AsyncCompile
    from torch._inductor.codegen.triton import TritonScheduling

    define: Any = TritonScheduling.define_kernel

    def define_kernel(self: Any, source: str, nodes: Any, kernel: Any) -> str:
        name = str(define(self, source, nodes, kernel))
        log.kernel_bytes[log.modules - 1, name] = traffic_of(kernel)
        return name

    def triton(_: Any, name: str, source: str, device_str: str = "cuda") -> TritonKernel:  # noqa: ARG001
        return TritonKernel(name, source, log)

    def cpp_pybinding(_: Any, __: Any, source_code: str) -> CppKernel:
        return CppKernel(source_code, log)

    with (
        mock.patch.object(AsyncCompile, "triton", triton),
        mock.patch.object(AsyncCompile, "cpp_pybinding", cpp_pybinding),
        mock.patch.object(AsyncCompile, "wait", lambda _, __: None),
        mock.patch.object(TritonScheduling, "define_kernel", define_kernel),
    ):
        yield


@contextlib.contextmanager
def memory(fake: FakeTensorMode) -> Iterator[None]:
    """Give generated wrappers fake memory. Source: torch/csrc/dynamo/guards.cpp; torch/_inductor/codegen/wrapper.py."""
    from torch._inductor import compile_fx

    guards = torch._C._dynamo.guards

    def empty_strided(device: torch.device | str) -> Callable[..., torch.Tensor]:
        def empty(size: Any, stride: Any, dtype: torch.dtype) -> torch.Tensor:
            with _disable_current_modes(), fake:
                return torch.empty_strided(size, stride, dtype=dtype, device=device)

        return empty

    def reinterpret(tensor: torch.Tensor, size: Any, stride: Any, offset: int) -> torch.Tensor:
        with _disable_current_modes():
            return torch.as_strided(tensor, size, stride, tensor.storage_offset() + offset)

    with (
        mock.patch.object(guards, "_empty_strided_cuda", empty_strided(DEVICE)),
        mock.patch.object(guards, "_empty_strided_cpu", empty_strided("cpu")),
        mock.patch.object(guards, "_empty_strided_cpu_pinned", empty_strided("cpu")),
        mock.patch.object(guards, "_reinterpret_tensor", reinterpret),
        # Fake tensors have no address to check the alignment of.
        mock.patch.object(compile_fx, "get_input_idxs_to_check", lambda *_: ()),
    ):
        yield


@contextlib.contextmanager
def graph_calls(log: PlanLog) -> Iterator[None]:
    """Note when each compiled graph starts and ends. Source: GraphLowering.compile_to_module, torch/_inductor/graph.py."""
    from torch._inductor.graph import GraphLowering

    original: Any = GraphLowering.compile_to_module

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


@contextlib.contextmanager
def constant_folding() -> Iterator[None]:
    """Fold constants on the CPU. Source: ConstantFolder, torch/_inductor/constant_folding.py."""
    from torch._inductor.constant_folding import ConstantFolder

    run_node = ConstantFolder.run_node

    def run_on_cpu(self: Any, node: Any) -> Any:
        with _OnCpu():  # type: ignore[no-untyped-call]
            return run_node(self, node)

    with mock.patch.object(ConstantFolder, "run_node", run_on_cpu):
        yield


@contextlib.contextmanager
def traced_constants() -> Iterator[None]:
    """Compute the values of small constants, which tracing keeps beside the graph, on the CPU.

    `torch.tensor(2.5, device="cuda")` in a function is one. Source: proxy_call, torch/fx/experimental/proxy_tensor.py.
    """
    from torch.fx.experimental import proxy_tensor

    outside_fake_mode: Any = proxy_tensor.__dict__["unset_fake_temporarily"]

    @contextlib.contextmanager
    def on_cpu() -> Iterator[Any]:
        with outside_fake_mode() as mode, _OnCpu():  # type: ignore[no-untyped-call]
            yield mode

    with mock.patch.object(proxy_tensor, "unset_fake_temporarily", on_cpu):
        yield


class _OnCpu(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Makes on the CPU what is asked for on another device."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:  # the signature is torch's
        args, kwargs = tree_map(_on_cpu, (args, kwargs or {}))
        return func(*args, **kwargs)


def _on_cpu(value: object) -> object:
    return torch.device("cpu") if isinstance(value, torch.device) else value


@contextlib.contextmanager
def padding_decision(log: PlanLog) -> Iterator[None]:
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
def template_choice(log: PlanLog) -> Iterator[None]:
    """Take the first candidate of max-autotune, in Inductor's own order, and list the others.

    Source: AlgorithmSelectorCache, torch/_inductor/select_algorithm.py.
    """
    from torch._inductor.select_algorithm import AlgorithmSelectorCache

    def do_autotuning(*args: Any, **kwargs: Any) -> dict[Any, float]:
        choices = kwargs["choices"] if "choices" in kwargs else args[_CHOICES]
        names = [choice.name for choice in choices]
        more = len(names) - _SHOWN_CHOICES
        shown = ", ".join(names[:_SHOWN_CHOICES]) + (f" and {more} more" if more > 0 else "")
        log.note(
            "benchmark-dependent",
            f"max-autotune would time {len(names)} candidates on a GPU; the plan takes the first: {shown}",
        )
        return {choice: float(place + 1) for place, choice in enumerate(choices)}

    def no_precompile(*_: Any, **__: Any) -> dict[Any, float]:
        return {}

    with (
        mock.patch.object(AlgorithmSelectorCache, "do_autotuning", do_autotuning),
        mock.patch.object(
            AlgorithmSelectorCache, "make_precompile_fn", lambda *_, **__: no_precompile
        ),
    ):
        yield


@contextlib.contextmanager
def cuda_graphs(log: PlanLog) -> Iterator[None]:
    """Say what would be a CUDA graph, and make none. Source: torch/_inductor/output_code.py, compile_fx.py.

    That the graph changes its inputs, torch finds when it runs: check_for_mutation, torch/_inductor/cudagraph_utils.py.
    """
    from torch._inductor import compile_fx, cudagraph_utils, output_code

    def cudagraphify(model: Any, static_input_idxs: Sequence[int] = (), **facts: Any) -> Any:
        changed = [it for it in facts["mutated_input_idxs"] if it not in static_input_idxs]
        if changed:
            reason = cudagraph_utils.get_mutation_stack_trace(facts["placeholders"], changed)
            cudagraph_utils.log_cudagraph_skip_and_bump_counter(reason)
            return model
        log.note("cuda-graph", "a compiled graph would be replayed as a CUDA graph: one launch")
        return model

    with (
        mock.patch.object(compile_fx, "cudagraphify", cudagraphify),
        mock.patch.object(output_code, "prepare_cudagraph_post_compile", lambda *_, **__: None),
        mock.patch.object(output_code, "maybe_handle_backward_generation", lambda *_, **__: None),
    ):
        yield


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
    from torch._inductor import async_compile

    compiler: Any = async_compile
    tuner = compiler._load_triton_kernel_from_source(name, source)

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
