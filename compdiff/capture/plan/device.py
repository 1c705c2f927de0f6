"""Answers for a GPU that is not there. In: a Target. Out: patches, each a context manager that puts back what it found.

Private names of torch and triton; sources (torch 2.14) as named. Importing this module patches nothing.
"""

import contextlib
import importlib
import types
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from compdiff.errors import CaptureError
from compdiff.model import Target

__all__ = [
    "DEVICE",
    "FakeTensorMode",
    "device_interface",
    "device_properties",
    "device_rates",
    "device_workers",
    "supports_bfloat16",
    "torch_cuda",
    "triton_driver",
]

DEVICE = torch.device("cuda", 0)
_KHZ = 1000
_BITS_PER_BYTE = 8


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
def torch_cuda(target: Target) -> Iterator[None]:
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
        # Else autocast and GradScaler switch themselves off, with a warning that only the case's output shows.
        stack.enter_context(
            mock.patch.object(torch.cuda.amp.common, "amp_definitely_not_available", lambda: False)
        )
        stack.enter_context(mock.patch.object(torch._C, "_cuda_getCurrentRawStream", lambda _: 0))
        yield


@contextlib.contextmanager
def device_interface(target: Target) -> Iterator[None]:
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
def device_workers(target: Target) -> Iterator[None]:
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
def device_rates(target: Target) -> Iterator[None]:
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
        compiler: Any = importlib.import_module("triton.backends.compiler")
        major, minor = self._target.capability
        return compiler.GPUTarget("cuda", 10 * major + minor, self._target.warp_size)

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, _: object = None) -> int:
        return 0

    def get_device_interface(self) -> object:
        return torch.cuda

    def get_active_torch_device(self) -> torch.device:
        return DEVICE

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
def triton_driver(target: Target) -> Iterator[None]:
    """Give Triton a driver that names the target. Source: triton/runtime/driver.py."""
    from torch._inductor.runtime import triton_helpers

    driver = importlib.import_module("triton.runtime").driver
    with (
        mock.patch.object(driver, "_active", _Driver(target)),
        mock.patch.object(triton_helpers, "set_driver_to_gpu", lambda: None),
    ):
        yield
