"""Traces as captures: each kind of public report as a small trace with the right answer."""

import pytest

from tests.importers.traces import captured, event, kernel, launch, said


def owners(*events: dict[str, object]) -> dict[str, str]:
    """Return for each kernel the name of the op call that launched it, "" for none."""
    made = captured(*events)
    names = {call.id: call.name for call in made.op_calls}
    return {one.name: "" if one.op_call is None else names[one.op_call] for one in made.kernels}


def test_a_kernel_belongs_to_the_op_around_its_launch() -> None:
    """Correlation ties kernel and launch, time and thread tie launch and op."""
    found = owners(
        event("aten::mm", 0, 10), launch(2, 5), event("aten::add", 20, 10), launch(22, 6),
        kernel("gemm", 30, 8, 5), kernel("add", 40, 2, 6),
    )  # fmt: skip
    assert found == {"gemm": "aten::mm", "add": "aten::add"}


def test_external_ids_are_not_believed() -> None:
    """For years they held the correlation, which is also the id of some other op."""
    found = owners(
        event("aten::mm", 0, 10, args={"External id": 1}), launch(2, 50),
        event("aten::add", 20, 10, args={"External id": 50}), launch(22, 51),
        kernel("gemm", 30, 8, 50, **{"External id": 50}),
        kernel("add", 40, 2, 51, **{"External id": 51}),
    )  # fmt: skip
    assert found == {"gemm": "aten::mm", "add": "aten::add"}


def test_record_function_ids_are_not_needed() -> None:
    """Neither ids nor indices of events are read: older exports have none."""
    bare = [event("aten::mm", 0, 10), launch(2, 5), kernel("gemm", 30, 8, 5)]
    full = [event("aten::mm", 0, 10, args={"Ev Idx": 3, "Record function id": 0}), *bare[1:]]
    assert captured(*bare).kernels == captured(*full).kernels


def test_collectives_belong_to_the_op_that_asked() -> None:
    """An annotation between the op and the launch is looked through."""
    found = owners(
        event("c10d::allreduce_", 0, 10),
        event("record_param_comms", 1, 8),
        event("nccl:all_reduce", 2, 6, cat="user_annotation"),
        launch(3, 9),
        kernel("ncclDevKernel_AllReduce", 20, 50, 9),
    )
    assert found == {"ncclDevKernel_AllReduce": "c10d::allreduce_"}


@pytest.mark.parametrize("correlation", [0, -1, None])
def test_kernels_without_a_correlation_stand_alone(correlation: int | None) -> None:
    """They are counted, and never merged into one launch."""
    made = captured(
        launch(0, 10), launch(2, 11), launch(4, 12), *(kernel("nccl", 10 + n, 1, correlation) for n in range(3))
    )  # fmt: skip
    assert len(made.kernels) == 3
    assert [one.launch for one in made.kernels] == [None, None, None]
    assert said(made)["kernel-without-launch"] == "3 of 3 kernels stand alone: no correlation"


def test_kernels_whose_launch_was_not_recorded() -> None:
    """A driver call that an old profiler did not see leaves kernels without a launch."""
    made = captured(
        event("aten::mm", 0, 10), launch(2, 5), kernel("triton_poi_fused_add_0", 30, 8, 99)
    )
    assert [one.kind for one in made.kernels] == ["triton"]
    assert "no launch in the trace" in said(made)["kernel-without-launch"]


@pytest.mark.parametrize("name", ["cudaLaunchKernelFuture", "INVALID", "cuLaunchKernelEx"])
def test_launches_need_no_known_name(name: str) -> None:
    """New launch calls link by correlation like old ones."""
    assert owners(event("aten::mm", 0, 10), launch(2, 5, name), kernel("gemm", 30, 8, 5)) == {
        "gemm": "aten::mm"
    }


def test_a_replayed_graph_has_many_kernels() -> None:
    """All kernels of one graph launch stay, and no op call is said to have launched them."""
    made = captured(
        event("aten::copy_", 0, 2), launch(5, 7, "cudaGraphLaunch"),
        *(kernel(f"k{n}", 10 + n, 1, 7) for n in range(40)),
    )  # fmt: skip
    assert len(made.kernels) == 40
    assert {one.op_call for one in made.kernels} == {None}
    assert {one.launch for one in made.kernels} == {0}
    assert said(made)["graph-replay"].startswith("40 kernels are replayed by 1 launches")


def test_a_region_does_not_own_the_kernels_of_its_graph() -> None:
    """A compiled region around a graph launch is a frame, not an op call with 40 kernels."""
    made = captured(
        event("Torch-Compiled Region: 0/0", 0, 20), launch(5, 7, "hipGraphLaunch"),
        *(kernel(f"k{n}", 30 + n, 1, 7) for n in range(40)),
    )  # fmt: skip
    assert made.op_calls == ()


def test_launches_without_kernels_are_counted() -> None:
    """While a graph is captured nothing runs."""
    made = captured(event("aten::mm", 0, 10), launch(2, 5), launch(4, 6), kernel("gemm", 30, 8, 5))
    assert (
        said(made)["launch-without-kernel"]
        == "1 launches have no kernel in the trace: cudaLaunchKernel"
    )


def test_a_host_call_of_a_triton_kernel_is_no_kernel() -> None:
    """Its arguments name a stream, as a kernel's do; its category says that it is the host's."""
    made = captured(
        event("triton_poi_fused_add_0", 0, 10, args={"stream": 0, "kernel_file": "x.py"}),
        launch(2, 5, "cuLaunchKernel"),
        kernel("triton_poi_fused_add_0", 30, 8, 5),
    )
    assert len(made.kernels) == 1
    assert made.op_calls == ()


def test_nameless_triton_kernels_are_named_by_their_launcher() -> None:
    """`triton__0d1d2d` carries no op; the host's call of it does."""
    made = captured(
        event("triton_poi_fused_add_0", 0, 10), launch(2, 5, "cuLaunchKernel"), kernel("triton__0d1d2d", 30, 8, 5)
    )  # fmt: skip
    assert [(one.name, one.kind) for one in made.kernels] == [("triton_poi_fused_add_0", "triton")]


def test_python_frames_between_op_and_launch() -> None:
    """However deep the frames, the op around them is found; without one there is none."""
    frames = [event(f"f.py({n}): f", 1 + n, 20 - 2 * n, cat="python_function") for n in range(5)]
    found = owners(
        event("vllm::rms_norm", 0, 30), *frames, launch(8, 5), kernel("rms", 40, 1, 5),
        event("g.py(1): g", 50, 9, cat="python_function"), launch(52, 6), kernel("bare", 70, 1, 6),
    )  # fmt: skip
    assert found == {"rms": "vllm::rms_norm", "bare": ""}


def test_backward_kernels_from_another_thread() -> None:
    """The autograd thread's launches belong to the op calls of that thread, which are backward."""
    made = captured(
        event("aten::mm", 0, 10), launch(2, 5),
        event("autograd::engine::evaluate_function: MmBackward0", 20, 20, tid=2),
        event("MmBackward0", 21, 18, tid=2, args={"Sequence number": 4}),
        event("aten::mm", 22, 10, tid=2), launch(23, 6, tid=2),
        kernel("forward", 30, 5, 5), kernel("backward", 40, 5, 6),
    )  # fmt: skip
    assert [(call.phase, call.autograd_node) for call in made.op_calls] == [
        ("forward", ""),
        ("backward", "MmBackward0"),
    ]
    assert [call.sequence for call in made.op_calls] == [-1, 4]
    assert [one.op_call for one in made.kernels] == [0, 1]


def test_an_op_that_launches_one_name_twice() -> None:
    """Two kernels with one name are two kernels."""
    made = captured(
        event("aten::sum", 0, 10), launch(1, 5), launch(3, 6), kernel("reduce", 20, 4, 5), kernel("reduce", 25, 2, 6)
    )  # fmt: skip
    assert [one.duration_ns for one in made.kernels] == [4_000, 2_000]


def test_device_time_counts_kernels_once() -> None:
    """Not once more in the op that launched them."""
    made = captured(event("aten::mm", 0, 10), launch(2, 5), kernel("gemm", 30, 8, 5))
    assert sum(one.duration_ns for one in made.kernels) == 8_000


def test_a_kernel_at_time_zero_stretches_nothing() -> None:
    """Its time is not known; the step is as long as the other events say."""
    base = 1_600_000_000_000_000
    made = captured(
        event("aten::mm", base, 10), launch(base + 2, 5), kernel("gemm", 0, 0, 5), kernel("lost", 0, 0, 77)
    )  # fmt: skip
    assert made.profile_wall_ns == 10_001
    assert [one.name for one in made.kernels] == ["gemm"]


def test_composite_ops_stand_in_the_chain() -> None:
    """`aten::linear` calls `aten::addmm`, which is the op call; what that calls is its inner work."""
    made = captured(
        event("aten::linear", 0, 100), event("aten::t", 1, 9), event("aten::transpose", 2, 7),
        event("aten::addmm", 20, 60), event("aten::expand", 21, 5),
    )  # fmt: skip
    assert [call.name for call in made.op_calls] == ["aten::t", "aten::addmm"]
    assert made.op_calls[1].chain == ("aten::linear",)
    assert made.op_calls[1].inner == ("aten::expand",)


def test_a_composite_op_that_launches_is_an_op_call_beside_those_it_calls() -> None:
    """What it launches itself is its own, what others launch is theirs."""
    found = owners(
        event("aten::matmul", 0, 40), launch(1, 4), event("aten::mm", 10, 20), launch(12, 5),
        kernel("pad", 50, 1, 4), kernel("gemm", 60, 1, 5),
    )  # fmt: skip
    assert found == {"pad": "aten::matmul", "gemm": "aten::mm"}


def test_annotations_of_the_user_stand_around_the_chain() -> None:
    """Outermost first; steps of the profiler and Inductor's graphs are shown otherwise."""
    capture = captured(
        event("ProfilerStep#3", 0, 100, cat="user_annotation"),
        event("## forward ##", 1, 90, cat="user_annotation"),
        event("block 7", 2, 80, cat="user_annotation"),
        event("## Call CompiledFxGraph f4ii ##", 3, 70, cat="user_annotation"),
        event("aten::linear", 4, 60),
        event("aten::addmm", 5, 50),
    )
    (call,) = capture.op_calls
    assert call.annotations == ("## forward ##", "block 7")
    assert call.chain == ("aten::linear",)


def test_shapes_types_and_values_are_kept() -> None:
    """What the profiler recorded of the inputs stands in the op call."""
    arguments = {
        "Input Dims": [[4, 8], [8, 2], []],
        "Input type": ["c10::BFloat16", "c10::BFloat16", "Scalar"],
        "Input Strides": [[8, 1], [2, 1], []],
        "Concrete Inputs": ["", "", "1"],
    }
    (call,) = captured(event("aten::mm", 0, 10, args=arguments)).op_calls
    assert [(meta.shape, meta.dtype, meta.stride) for meta in call.inputs] == [
        ((4, 8), "bfloat16", (8, 1)),
        ((8, 2), "bfloat16", (2, 1)),
    ]
    assert call.arguments == "T, T, 1"


def test_the_line_that_called_an_op() -> None:
    """The innermost frame that is neither torch's nor Python's own, and the module around it."""
    made = captured(
        event("train.py(10): main", 0, 50, cat="python_function"),
        event("nn.Module: Linear_0", 1, 48, cat="python_function"),
        event("torch/nn/modules/linear.py(125): forward", 2, 40, cat="python_function"),
        event("<built-in function linear>", 3, 30, cat="python_function"),
        event("aten::mm", 4, 10),
    )
    (call,) = made.op_calls
    assert call.source is not None
    assert (call.source.file, call.source.line) == ("train.py", 10)
    assert call.module == "Linear_0"


def test_a_step_without_kernels_says_so() -> None:
    """Nothing on the device is a fact about the trace, not about the code."""
    made = captured(event("ProfilerStep#1", 0, 50, cat="user_annotation"), event("aten::mm", 1, 5))
    assert made.device == "cpu"
    assert made.kernels == ()


def test_launches_of_one_correlation() -> None:
    """The first has the kernels, and the reader is told."""
    made = captured(launch(0, 5), launch(3, 5), kernel("gemm", 10, 1, 5))
    assert made.kernels[0].launch == 0
    assert said(made)["shared-correlation"].startswith("1 launches")


def test_what_the_compiler_launches_is_not_the_steps() -> None:
    """Kernels that are timed for autotuning are left out, with their ops, and counted; the one that is kept stays."""
    phase = "CachingAutotuner.benchmark_all_configs (dynamo_timed)"
    tuned = [launch(10 + 2 * number, number) for number in range(1, 51)]
    ran = [kernel("triton_mm_3", 200 + number, 1, number) for number in range(1, 51)]
    capture = captured(
        event(phase, 5, 150, cat="user_annotation"),
        event("aten::zeros", 6, 2),
        *tuned,
        *ran,
        launch(300, 99),
        kernel("triton_mm_3", 310, 1, 99),
    )
    assert [made.launch for made in capture.kernels] == [0]
    assert not capture.op_calls
    assert "1 ops and 50 kernels (0.05 ms)" in said(capture)["compile-work"]


def test_recording_a_graph_is_the_step() -> None:
    """Torch times it as it times compiling, but what runs inside is the function."""
    capture = captured(
        event("CUDAGraphNode.record (dynamo_timed)", 0, 50, cat="user_annotation"),
        event("aten::mm", 1, 20),
        launch(2, 1),
        kernel("gemm", 10, 5, 1),
    )
    assert [call.name for call in capture.op_calls] == ["aten::mm"]
    assert "compile-work" not in said(capture)
