"""Tests of compdiff.capture.profile on traces made by hand."""

import json

import pytest

from compdiff import kineto
from compdiff.capture.profile import merge
from compdiff.kineto import STEP_NAME, Event
from compdiff.model import CompiledGraph, OpCall, Phase, WrapperCall


def _trace(*events: tuple[str, float, float], category: str = "cpu_op") -> list[Event]:
    """Make a trace of (name, start, end) in microseconds inside one step."""
    items = [(STEP_NAME, 0.0, 1000.0, "user_annotation"), *[(*event, category) for event in events]]
    data = [
        {
            "ph": "X",
            "cat": cat,
            "name": name,
            "pid": 1,
            "tid": 1,
            "ts": start,
            "dur": end - start,
            "args": {},
        }
        for name, start, end, cat in items
    ]
    return kineto.decode(json.dumps({"traceEvents": data}).encode())


def _calls(*names: str, phase: str = "forward") -> list[OpCall]:
    return [OpCall(id=index, name=name, phase=phase) for index, name in enumerate(names)]  # type: ignore[arg-type]


def test_chain_and_inner_ops_come_from_the_trace() -> None:
    """A call knows the composite op around it and the ops that its kernel calls."""
    events = _trace(("aten::matmul", 1, 9), ("aten::mm", 2, 8), ("aten::resolve_conj", 3, 4))
    (call,) = merge(_calls("aten::mm"), events).op_calls
    assert (call.chain, call.inner) == (("aten::matmul",), ("aten::resolve_conj",))
    assert (call.start_ns, call.duration_ns) == (2000, 6000)


def test_an_inner_op_is_not_taken_for_a_later_call() -> None:
    """The copy inside a conversion is the conversion's work; the copy after it is the call."""
    events = _trace(("aten::_to_copy", 1, 5), ("aten::copy_", 2, 4), ("aten::copy_", 6, 8))
    calls = merge(_calls("aten::_to_copy", "aten::copy_"), events).op_calls
    assert [call.start_ns for call in calls] == [1000, 6000]


def test_a_view_that_only_the_dispatch_mode_sees_is_left_out() -> None:
    """The detach that a dispatch mode adds is dropped, and the later calls keep their own events."""
    events = _trace(("aten::sin", 1, 2), ("aten::mm", 3, 4), ("aten::detach", 5, 6))
    merged = merge(_calls("aten::sin", "aten::detach", "aten::mm", "aten::detach"), events)
    assert [(call.id, call.name, call.start_ns) for call in merged.op_calls] == [
        (0, "aten::sin", 1000),
        (1, "aten::mm", 3000),
        (2, "aten::detach", 5000),
    ]
    assert merged.warnings == []


@pytest.mark.parametrize(
    "added", [("forward", ""), ("backward", "MmBackward0")], ids=["forward", "another node"]
)
def test_what_a_dispatch_mode_adds_takes_no_event_of_another_node(
    added: tuple[Phase, str],
) -> None:
    """Saved tensors are detached under the mode alone; the detach that hands over a gradient keeps its event."""
    phase, node = added
    accumulate = "torch::autograd::AccumulateGrad"
    saved = OpCall(id=0, name="aten::detach", phase=phase, autograd_node=node)
    handed = OpCall(id=1, name="aten::detach", phase="backward", autograd_node=accumulate)
    engine = (f"autograd::engine::evaluate_function: {accumulate}", 4, 9)
    merged = merge([saved, handed], _trace(engine, ("aten::detach", 5, 6)))
    calls = [(call.autograd_node, call.start_ns) for call in merged.op_calls]
    assert calls == [(accumulate, 5000)]


def test_a_computing_call_that_is_missing_stays_and_is_a_warning() -> None:
    """A call that the profiler did not see is counted, never dropped in silence."""
    merged = merge(_calls("aten::sin", "aten::cos"), _trace(("aten::cos", 1, 2)))
    assert [call.name for call in merged.op_calls] == ["aten::sin", "aten::cos"]
    assert [warning.id for warning in merged.warnings] == ["profile-mismatch"]


def test_gradients_are_added_in_place_when_nobody_watches() -> None:
    """Under a dispatch mode autograd adds gradients out of place; the profile gives the real name."""
    (call,) = merge(_calls("aten::add", phase="backward"), _trace(("aten::add_", 1, 2))).op_calls
    assert call.name == "aten::add_"


def test_a_view_made_by_reshape_keeps_its_name() -> None:
    """Reshape makes its view by another op when nobody watches: the call is matched, and stays a view for its readers."""
    (call,) = merge(_calls("aten::view"), _trace(("aten::_reshape_alias", 1, 2))).op_calls
    assert (call.name, call.start_ns) == ("aten::view", 1000)


def test_no_step_in_the_trace_is_a_warning() -> None:
    """Without the step the calls stay as the dispatch pass saw them."""
    merged = merge(_calls("aten::sin"), [])
    assert [warning.id for warning in merged.warnings] == ["no-profile"]
    assert [call.name for call in merged.op_calls] == ["aten::sin"]


def test_calls_and_cpp_kernels_find_their_wrapper_calls() -> None:
    """What runs inside a graph's call is tied to the wrapper's calls by name and order."""
    graph = CompiledGraph(
        id=0,
        compile_id="0/0",
        direction="inference",
        calls=(
            WrapperCall(index=0, name="extern_kernels.mm", kind="extern"),
            WrapperCall(index=1, name="cpp_fused_add_0", kind="cpp"),
            WrapperCall(index=2, name="extern_kernels.mm", kind="extern"),
        ),
    )
    events = _trace(
        ("Torch-Compiled Region: 0/0", 1, 90),
        ("## Call CompiledFxGraph abc ##", 2, 80),
        ("aten::mm", 3, 4),
        ("graph_0_cpp_fused_add_0", 5, 6),
        ("aten::mm", 7, 8),
        ("aten::copy_", 85, 86),
    )
    merged = merge(_calls("aten::mm", "aten::mm", "aten::copy_"), events, [graph])
    assert [(call.graph, call.call) for call in merged.op_calls] == [(0, 0), (0, 2), (None, None)]
    assert [(kernel.name, kernel.call) for kernel in merged.kernels] == [("cpp_fused_add_0", 1)]


def _graph_of(*calls: WrapperCall) -> CompiledGraph:
    return CompiledGraph(id=0, compile_id="0/0", direction="inference", calls=calls)


def _in_the_graph(*spans: tuple[str, float, float]) -> list[Event]:
    region = ("Torch-Compiled Region: 0/0", 1, 90)
    return _trace(region, ("## Call CompiledFxGraph abc ##", 2, 80), *spans)


def test_a_template_is_known_by_the_name_that_its_code_records() -> None:
    """C++ templates record themselves as `kernel`: the wrapper call whose code says so gives the name."""
    graph = _graph_of(
        WrapperCall(index=0, name="cpp_fused_add_0", kind="cpp", code='record("graph_0_cpp_fused_add_0")'),
        WrapperCall(index=1, name="cpp_fused_flex_1", kind="cpp", code='record("graph_0_kernel", nullptr)'),
    )  # fmt: skip
    events = _in_the_graph(("graph_0_cpp_fused_add_0", 3, 4), ("graph_0_kernel", 5, 9))
    kernels = merge([], events, [graph]).kernels
    assert [(kernel.name, kernel.call, kernel.duration_ns) for kernel in kernels] == [
        ("cpp_fused_add_0", 0, 1000),
        ("cpp_fused_flex_1", 1, 4000),
    ]


def test_a_call_that_the_profiler_does_not_record_is_the_wrapper_call_left_over() -> None:
    """Custom ops in Python leave no event: they are placed, without a time, and counted."""
    custom = WrapperCall(index=0, name="torch.ops.mine.shift.default", kind="extern")
    mm = WrapperCall(index=1, name="extern_kernels.mm", kind="extern")
    events = _in_the_graph(("aten::mm", 5, 6))
    merged = merge(_calls("mine::shift", "aten::mm"), events, [_graph_of(custom, mm)])
    assert [(call.call, call.start_ns) for call in merged.op_calls] == [(0, None), (1, 5000)]
    assert [warning.id for warning in merged.warnings] == ["profile-mismatch"]


def test_calls_without_events_are_not_placed_where_their_number_leaves_a_choice() -> None:
    """One wrapper call and two calls that could be it: neither is."""
    custom = WrapperCall(index=0, name="torch.ops.mine.shift.default", kind="extern")
    merged = merge(_calls("mine::shift", "mine::shift"), _in_the_graph(), [_graph_of(custom)])
    assert [call.call for call in merged.op_calls] == [None, None]


def _launch(correlation: int, start: float) -> dict[str, object]:
    return {
        "ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": start, "dur": 1,
        "args": {"correlation": correlation},
    }  # fmt: skip


def _kernel(name: str, correlation: int, start: float) -> dict[str, object]:
    arguments = {
        "correlation": correlation,
        "stream": 7,
        "grid": [1, 2, 3],
        "registers per thread": 32,
    }
    return {
        "ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": start, "dur": 5, "args": arguments
    }  # fmt: skip


def test_kernels_belong_to_the_op_whose_launch_they_correlate_with() -> None:
    """A kernel's op is that around its launch, wherever the kernel itself runs."""
    step = {
        "ph": "X",
        "cat": "user_annotation",
        "name": STEP_NAME,
        "pid": 1,
        "tid": 1,
        "ts": 0,
        "dur": 1000,
    }
    op = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 20}
    stray = _kernel("of_the_step_before", 99, 2)
    data = [step, op, _launch(7, 2), _kernel("gemm", 7, 500), stray]
    merged = merge(_calls("aten::mm"), kineto.decode(json.dumps({"traceEvents": data}).encode()))
    assert [(k.name, k.op_call, k.stream, k.grid, k.registers) for k in merged.kernels] == [
        ("gemm", 0, 7, (1, 2, 3), 32)
    ]
    assert [launch.op_call for launch in merged.launches] == [0]
    (mm, runtime) = merged.op_stats
    assert (mm.name, mm.host_self_ns, mm.device_self_ns) == ("aten::mm", 19_000, 5_000)
    assert (runtime.name, runtime.calls, runtime.device_total_ns) == ("cudaLaunchKernel", 1, 0)


def test_threads_and_own_times_of_op_calls() -> None:
    """Threads are numbered as they appear; the own time of a call is without the ops that it calls."""
    events = _trace(("aten::_to_copy", 1, 9), ("aten::copy_", 2, 4))
    merged = merge(_calls("aten::_to_copy"), events)
    assert [(call.thread, call.self_ns) for call in merged.op_calls] == [(0, 6_000)]
    assert (merged.start_ns, merged.wall_ns) == (0, 1_000_000)
