"""The time of a step, split into parts that add up to it."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compdiff import kineto
from compdiff.kineto.split import OTHER, PARTS, part_of, split_step
from compdiff.model import StepSplit
from tests.importers.traces import DATA, Fields, event, kernel, launch, trace_bytes

STEP = event(kineto.STEP_NAME, 0, 100, cat="user_annotation")


def split(*events: Fields, step: Fields = STEP) -> StepSplit:
    """Return the split of a step of 100 us with these events in it."""
    found = kineto.read(trace_bytes(step, *events)).events
    return split_step(next(it for it in found if it.name == kineto.STEP_NAME), found)


def test_the_innermost_counts() -> None:
    """An op within a graph's call within the compiled region counts as an op, what is left of each as its own part."""
    found = split(
        event("TorchDynamo Cache Lookup", 5, 10),
        event("Torch-Compiled Region: 0/0", 20, 60),
        event("## Call CompiledFxGraph abc ##", 30, 40),
        event("aten::addmm", 35, 10),
        event("aten::copy_", 36, 4),
        event("graph_0_cpp_fused_relu_0", 50, 15),
    )
    assert found == StepSplit(
        total_ns=100_000,
        parts_ns={
            "kernels": 15_000,
            "lookup": 10_000,
            "wrapper": 35_000,
            "op_calls": 10_000,
            OTHER: 30_000,
        },
    )


def test_the_device_hides_the_host() -> None:
    """While a kernel runs, the step is device work; `host_ns` has what the host did in all."""
    found = split(
        event("aten::mm", 10, 30),
        launch(20, 1) | {"dur": 10},
        kernel("gemm", 25, 50, 1),
        event("cudaDeviceSynchronize", 40, 55, cat="cuda_runtime"),
    )
    assert found.parts_ns == {
        "device": 50_000,
        "launches": 5_000,
        "op_calls": 10_000,
        "wait": 20_000,
        OTHER: 15_000,
    }
    assert found.host_ns == {"launches": 10_000, "op_calls": 20_000, "wait": 55_000, OTHER: 15_000}


def test_streams_and_threads_count_once() -> None:
    """Two kernels at once are one time of device work; two threads at once are the first of the parts."""
    found = split(
        kernel("a", 10, 20, None),
        kernel("b", 20, 20, None),
        event("aten::mm", 50, 20),
        launch(60, 1, tid=2) | {"dur": 20},
    )
    assert found.parts_ns == {
        "device": 30_000,
        "launches": 20_000,
        "op_calls": 10_000,
        OTHER: 40_000,
    }


def test_what_crosses_the_ends_is_cut() -> None:
    """A kernel of the step before, and one that outlasts the step, count for what lies inside."""
    step = event(kineto.STEP_NAME, 50, 100, cat="user_annotation")
    found = split(kernel("a", 0, 60, None), kernel("b", 140, 60, None), step=step)
    assert found.parts_ns == {"device": 20_000, OTHER: 80_000}


def test_annotations_are_transparent() -> None:
    """What the user marks, and Python frames, are not parts: what is in them counts."""
    found = split(
        event("my block", 10, 50, cat="user_annotation"),
        event("forward", 10, 50, cat="python_function"),
        event("aten::mm", 20, 10),
    )
    assert found.parts_ns == {"op_calls": 10_000, OTHER: 90_000}


@pytest.mark.parametrize(
    ("name", "category", "part"),
    [
        ("cpp_fused_add_0", "cpu_op", "kernels"),
        ("graph_0_kernel", "cpu_op", "kernels"),
        ("CompiledFunctionBackward", "cpu_op", "wrapper"),
        ("autograd::engine::evaluate_function: MmBackward0", "cpu_op", "op_calls"),
        ("AOTDispatcher Runtime Wrapper Prologue", "cpu_op", "wrapper"),
        ("cudaGraphLaunch", "cuda_runtime", "launches"),
        ("cuLaunchKernelEx", "cuda_driver", "launches"),
        ("hipStreamSynchronize", "cuda_runtime", "wait"),
        ("Memcpy DtoD", "gpu_memcpy", "device"),
        ("ProfilerStep#3", "user_annotation", None),
    ],
)
def test_what_belongs_where(name: str, category: str, part: str | None) -> None:
    """Each name that torch gives belongs to one part."""
    (found,) = kineto.read(trace_bytes(event(name, 0, 1, cat=category))).events
    assert part_of(found) == part


_NAMES = st.sampled_from(["aten::mm", "TorchDynamo Cache Lookup", "CompiledFunction", "cpp_a", "x"])
_TIMES = st.integers(-20, 120)


@given(st.lists(st.tuples(_NAMES, _TIMES, st.integers(0, 80), st.integers(0, 3))))
def test_parts_add_up(drawn: list[tuple[str, int, int, int]]) -> None:
    """Whatever overlaps on whatever threads and streams, every moment of the step counts once."""
    events = [
        kernel(name, start, duration, None)
        if thread == 0
        else event(name, start, duration, tid=thread)
        for name, start, duration, thread in drawn
    ]
    found = split(*events)
    assert sum(found.parts_ns.values()) == found.total_ns == 100_000
    assert not found.host_ns or sum(found.host_ns.values()) == found.total_ns
    assert set(found.parts_ns) <= {*PARTS, OTHER}
    assert all(ns > 0 for ns in found.parts_ns.values())


def test_a_real_compiled_step() -> None:
    """A step of compiled code on a GPU: nearly all device work, with lookup, wrapper and launches around it."""
    data = gzip.decompress((DATA / "tl-torch-compile-triton.json.gz").read_bytes())
    events = kineto.read(data).events
    start, end = min(it.start_ns for it in events), max(it.end_ns for it in events)
    step = kineto.Event(kineto.STEP_NAME, "user_annotation", ("", ""), start, end - start)
    found = split_step(step, events)
    assert sum(found.parts_ns.values()) == found.total_ns == step.duration_ns
    assert found.parts_ns["device"] > 0.9 * found.total_ns
    assert {"launches", "lookup", "wrapper", "op_calls", "wait"} < set(found.parts_ns)
    assert found.host_ns["launches"] > found.parts_ns["launches"]
