"""Tests of compdiff.capture.inductor: what it patches is put back, and any of its private names may be missing."""

import contextlib
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from torch import _inductor as inductor_package  # noqa: F401 - loads what the patches touch
from torch._dynamo.output_graph import OutputGraph
from torch._functorch import config as functorch_config
from torch._functorch import partitioners
from torch._inductor import compile_fx, debug, pattern_matcher
from torch._inductor import config as inductor_config
from torch._inductor.codegen import cpp, triton
from torch._inductor.graph import GraphLowering
from torch._inductor.scheduler import WhyNoFuse
from torch.fx.passes.graph_transform_observer import GraphTransformObserver

from compdiff.analysis import analyse
from compdiff.capture import inductor
from compdiff.capture.measure import measure
from compdiff.capture.recorder import Recorder
from compdiff.case import find
from compdiff.model import CompileOptions, Request, Run, SamplingPlan

CASE = '''"""A product and a sum."""
import torch

def inputs(device, dtype):
    return tuple(torch.randn(16, 16, device=device, dtype=dtype) for _ in range(3))

def fn(x, w, b):
    return torch.add(torch.matmul(x, w), b)
'''


def process_state() -> dict[str, object]:
    """Return everything that a recording touches in this process."""
    kinds = ("GraphPatternEntry", "ReplacementPatternEntry", "LoweringPatternEntry")
    return {
        "call_user_compiler": OutputGraph.call_user_compiler,
        "joint passes": compile_fx._recursive_joint_graph_passes,
        "post-grad passes": compile_fx._recursive_post_grad_passes,
        "codegen": compile_fx.fx_codegen_and_compile,
        "compile_to_module": GraphLowering.compile_to_module,
        "observer": (GraphTransformObserver.__enter__, GraphTransformObserver.__exit__),
        "patterns": [
            inspect.getattr_static(getattr(pattern_matcher, kind), "apply") for kind in kinds
        ],
        "cse": partitioners.fx_graph_cse,  # type: ignore[attr-defined]
        "fusion": (WhyNoFuse.__init__, WhyNoFuse.__call__),
        "kernels told": [
            module.set_kernel_post_grad_provenance_tracing for module in (cpp, triton, debug)
        ],
        "log": list(torch._logging._internal.trace_log.handlers),
        "inductor configuration": inductor_config.get_config_copy(),
        "functorch configuration": functorch_config.get_config_copy(),
    }


def test_everything_is_put_back() -> None:
    """After a recording the process is as it was; during it every patch is in place."""
    before = process_state()
    recorder = Recorder(inductor.compile_id)
    with inductor.recorded(recorder, use_cache=False, options={"max_autotune": True}):
        during = process_state()
    assert recorder.warnings == []
    assert [name for name in before if during[name] == before[name]] == []
    assert process_state() == before


def test_everything_is_put_back_after_an_error() -> None:
    """An exception inside the block leaves nothing behind."""
    before = process_state()
    with (
        contextlib.suppress(ZeroDivisionError),
        inductor.recorded(Recorder(inductor.compile_id), use_cache=False, options={}),
    ):
        raise ZeroDivisionError
    assert process_state() == before


@pytest.fixture(name="request_", scope="module")
def _request(tmp_path_factory: pytest.TempPathFactory) -> Request:
    path = tmp_path_factory.mktemp("case") / "one.py"
    path.write_text(CASE)
    return request_for(path)


def request_for(path: Path) -> Request:
    """Return the request to measure a case file quickly on the CPU."""
    (spec,) = find([str(path)], device_type="cpu")
    return Request(
        spec=spec,
        device="cpu",
        options=CompileOptions(),
        sampling=SamplingPlan(budget_ns=50_000_000),
    )


def run_of(request: Request) -> Run:
    """Return the run of a case measured in this process."""
    return measure(request, progress=lambda _: None, save=lambda _: None)


def missing(name: str) -> Callable[[Recorder], contextlib.AbstractContextManager[None]]:
    """Return a patch that finds its private name gone."""

    @contextlib.contextmanager
    def patch(_: Recorder) -> Iterator[None]:
        raise AttributeError(f"module 'torch' has no attribute '{name}'")
        yield

    patch.__name__ = name
    return patch


@pytest.mark.measured
@pytest.mark.parametrize("gone", [patch.__name__ for patch in inductor.PATCHES])
def test_a_private_name_that_is_gone_costs_a_fact_and_a_warning(
    gone: str, request_: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run completes, says what it lacks, and every op call and kernel still has a fate and an origin."""
    patches = [missing(gone) if patch.__name__ == gone else patch for patch in inductor.PATCHES]
    monkeypatch.setattr(inductor, "PATCHES", tuple(patches))
    run = run_of(request_)
    assert [w.id for w in run.right.warnings] == ["private-name-gone"]
    assert gone.strip("_").replace("_", " ") in run.right.warnings[0].text
    diff = analyse(run)
    assert len(diff.fates) == len(run.left.op_calls)
    assert run.numerics is not None
    assert run.timing is not None
