"""A capture and its compiler's account: which graph ran when, and which call is which."""

from compdiff import kineto
from compdiff.importers.capture import make_capture
from compdiff.importers.steps import whole_window
from compdiff.importers.torch_trace import CompilerLog, attach
from compdiff.model import Capture, CompiledGraph, Kernel, OpCall
from tests.builders import compiler, graph, wrapper_call
from tests.importers.traces import Fields, event, kernel, launch, said, trace_bytes

FORWARD = graph(
    0, "forward", calls=(wrapper_call(0, "extern_kernels.mm"), wrapper_call(1, "cpp_fused_0", "x"))
)
BACKWARD = graph(1, "backward", calls=(wrapper_call(0, "extern_kernels.mm"),))
REGION = "Torch-Compiled Region: 0/0"
GRAPH = "## Call CompiledFxGraph None ##"


def attached(*events: Fields, graphs: tuple[CompiledGraph, ...] = (FORWARD, BACKWARD)) -> Capture:
    """Return the capture of a trace with the account of a compiler that made these graphs."""
    trace = kineto.read(trace_bytes(*events))
    window = whole_window(trace.events)
    log = CompilerLog(compiler(graphs), "2.14.1")
    return attach(make_capture(trace, window, "compiled"), log, trace.events, window)


def places(capture: Capture) -> list[tuple[str, int | None, int | None]]:
    """Return name, graph and call of each item."""
    items: list[OpCall | Kernel] = [*capture.op_calls, *capture.kernels]
    return [(one.name, one.graph, one.call) for one in items]


def test_forward_and_backward_of_one_region() -> None:
    """The autograd function's number ties them together."""
    number = {"args": {"Sequence number": 7}}
    found = attached(
        event(REGION, 0, 100), event("CompiledFunction", 1, 98, **number), event(GRAPH, 2, 90),
        event("aten::mm", 3, 10), event("graph_0_cpp_fused_0", 20, 10),
        event("aten::add", 110, 5),
        event("CompiledFunctionBackward", 200, 100, **number), event(GRAPH, 210, 80), event("aten::mm", 220, 10),
    )  # fmt: skip
    assert places(found) == [
        ("aten::mm", 0, 0),
        ("aten::add", None, None),
        ("aten::mm", 1, 0),
        ("cpp_fused_0", 0, 1),
    ]
    assert not found.warnings


def test_older_traces_name_only_regions() -> None:
    """The region is the run of its graph."""
    found = attached(event(REGION, 0, 100), event("aten::mm", 3, 10), event("cpp_fused_0", 20, 10))
    assert places(found) == [("aten::mm", 0, 0), ("cpp_fused_0", 0, 1)]


def test_traces_without_regions_go_by_names() -> None:
    """Any graph of the log may have made a call; what fits none is outside."""
    found = attached(
        event("aten::mm", 3, 10), event("aten::mm", 20, 10), event("aten::mm", 40, 10),
        event("cpp_fused_0", 60, 10),
    )  # fmt: skip
    assert places(found) == [
        ("aten::mm", 0, 0),
        ("aten::mm", 1, 0),
        ("aten::mm", None, None),
        ("cpp_fused_0", 0, 1),
    ]


def test_regions_without_an_id_tell_nothing() -> None:
    """As torch 2.1 wrote them: names have to do."""
    found = attached(event("Torch-Compiled Region", 0, 100), event("aten::mm", 3, 10))
    assert places(found) == [("aten::mm", 0, 0)]


def test_a_graph_that_ran_twice() -> None:
    """Each run has all calls anew."""
    found = attached(
        event(REGION, 0, 50), event("aten::mm", 3, 10), event("cpp_fused_0", 20, 10),
        event(REGION, 60, 50), event("aten::mm", 63, 10), event("cpp_fused_0", 80, 10),
    )  # fmt: skip
    assert [one.call for one in found.op_calls] == [0, 0]
    assert [one.call for one in found.kernels] == [1, 1]


def test_kernels_belong_where_they_were_launched() -> None:
    """On a device they run later than the region lasts."""
    triton = wrapper_call(0, "triton_poi_fused_add_0", "x")
    made = graph(0, "inference", calls=(triton,))
    found = attached(
        event(REGION, 0, 50), event("triton_poi_fused_add_0", 10, 10), launch(12, 5),
        kernel("triton_poi_fused_add_0", 300, 8, 5), graphs=(made,),
    )  # fmt: skip
    assert places(found) == [("triton_poi_fused_add_0", 0, 0)]


def test_what_log_and_trace_do_not_share() -> None:
    """Regions, kernels, and C++ kernels that were not recorded."""
    found = said(attached(event("Torch-Compiled Region: 3/1", 0, 50), event("cpp_fused_9", 20, 10)))
    assert "3/1" in found["region-not-in-log"]
    assert found["kernel-not-in-log"].startswith("1 of 1 generated kernels")
    unseen = said(attached(event(REGION, 0, 50), event("aten::mm", 3, 10)))
    assert unseen["cpp-kernels-not-profiled"].startswith("1 calls of C++ kernels")
