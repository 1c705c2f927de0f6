"""The patches of a plan put back what they found."""

import importlib
from collections.abc import Iterator

import pytest
import torch

from compdiff.capture import inductor
from compdiff.capture.plan.device import FakeTensorMode
from compdiff.capture.plan.log import PlanLog
from compdiff.capture.plan.patches import pretended
from compdiff.targets import TARGETS
from tests.capture.cuda_build import needs_cuda_build

pytestmark = needs_cuda_build

# (module, name of an object in it or "", names that patches replace)
PATCHED = (
    ("torch.cuda", "", ("device_count", "current_device", "get_device_properties", "_lazy_init")),
    ("torch.cuda", "", ("get_device_capability", "set_device", "synchronize", "_exchange_device")),
    ("torch.cuda.amp.common", "", ("amp_definitely_not_available",)),
    ("torch._C", "", ("_cuda_getCurrentRawStream", "_current_graph_task_id")),
    ("torch._C._dynamo.guards", "", ("_empty_strided_cuda", "_reinterpret_tensor")),
    ("torch._dynamo.device_interface", "CudaInterface", ("is_available", "get_raw_stream")),
    ("torch._inductor.scheduler", "", ("has_triton", "get_gpu_dram_gbps", "get_device_tflops")),
    ("torch._inductor.utils", "", ("get_gpu_dram_gbps", "get_device_tflops")),
    ("torch._inductor.async_compile", "AsyncCompile", ("triton", "wait")),
    ("torch._inductor.codegen.triton", "TritonScheduling", ("define_kernel",)),
    ("torch._inductor.compile_fx", "", ("get_input_idxs_to_check", "cudagraphify")),
    ("torch._inductor.constant_folding", "ConstantFolder", ("run_node",)),
    ("torch.fx.experimental.proxy_tensor", "", ("unset_fake_temporarily",)),
    ("torch._subclasses.fake_tensor", "", ("run_fallback_kernel",)),
    ("torch._subclasses.fake_impls", "", ("run_fallback_kernel",)),
    ("torch._inductor.fx_passes.pad_mm", "", ("get_cached_should_pad",)),
    ("torch._inductor.select_algorithm", "AlgorithmSelectorCache", ("do_autotuning",)),
    ("torch._inductor.graph", "GraphLowering", ("compile_to_module",)),
    ("torch._inductor.output_code", "", ("prepare_cudagraph_post_compile",)),
    ("torch._inductor.runtime.triton_helpers", "", ("set_driver_to_gpu",)),
    ("torch.autograd", "", ("_engine_run_backward",)),
    ("torch.autograd.graph", "", ("_engine_run_backward",)),
    ("torch.nn", "Module", ("_apply",)),
    ("torch.nn", "RNNBase", ("flatten_parameters",)),
    ("compdiff.capture.inductor", "", ("running_autograd_node",)),
)


def state() -> Iterator[tuple[str, object]]:
    """Yield everything that the patches replace, as it is now."""
    for module, holder, names in PATCHED:
        owner = importlib.import_module(module)
        owner = getattr(owner, holder) if holder else owner
        for name in names:
            yield f"{module}.{holder}.{name}", getattr(owner, name)
    fakes = importlib.import_module("torch._subclasses.fake_impls")
    yield "scalars", dict(fakes.op_implementations_dict)
    yield "copies", hasattr(FakeTensorMode, "__deepcopy__")
    devices = importlib.import_module("torch._dynamo.device_interface")
    yield "workers", dict(devices.caching_worker_device_properties)
    yield "driver", importlib.import_module("triton.runtime").driver._active
    key = "scaled_dot_product_attention"
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    yield "attention", [has(f"aten::{key}", name) for name in ("CUDA", "AutogradCUDA")]
    settings = importlib.import_module("torch._inductor.config")
    yield "settings", settings.get_config_copy()


def pretend() -> None:
    """Enter the patches and leave them."""
    with pretended(TARGETS["h200"], FakeTensorMode(), PlanLog()):
        assert torch.cuda.get_device_name() == "NVIDIA H200"


def test_all_is_put_back() -> None:
    """After a plan the process is as it was."""
    before = dict(state())
    pretend()
    assert dict(state()) == before


def test_all_is_put_back_after_an_error() -> None:
    """A case that raises leaves nothing behind either."""
    before = dict(state())
    with pytest.raises(ZeroDivisionError), pretended(TARGETS["a100"], FakeTensorMode(), PlanLog()):
        raise ZeroDivisionError
    assert dict(state()) == before


def test_each_entry_of_the_list_is_replaced() -> None:
    """The list above is of what is patched: an entry that no patch replaces would prove nothing."""
    before = dict(state())
    with pretended(TARGETS["h200"], FakeTensorMode(), PlanLog()):
        inside = dict(state())
    same = [name for name in before if inside[name] == before[name]]
    assert same == []


def test_the_device_is_the_targets() -> None:
    """Capability and properties are those of the table."""
    with pretended(TARGETS["b200"], FakeTensorMode(), PlanLog()):
        assert torch.cuda.get_device_capability() == (10, 0)
        assert torch.cuda.get_device_properties(0).multi_processor_count == 148
    assert inductor.running_autograd_node() is None
