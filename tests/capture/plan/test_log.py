"""What the stand-ins of a plan note."""

import torch

from compdiff.capture.plan.log import CppKernel, PlanLog, TritonKernel, parameter_names

SOURCE = """
@triton.jit
def triton_poi_fused_add_0(in_out_ptr0, in_ptr0, out_ptr1, xnumel, XBLOCK : tl.constexpr):
    xnumel = 4
"""


def test_reads_a_kernels_parameters() -> None:
    """The names say what a kernel reads and writes."""
    assert parameter_names(SOURCE) == ("in_out_ptr0", "in_ptr0", "out_ptr1", "xnumel", "XBLOCK")


def test_a_source_without_kernel_has_none() -> None:
    """Nothing is made up."""
    assert parameter_names("x = 1") == ()


def test_notes_launches_with_the_graph_that_runs() -> None:
    """A launch knows its graph call, how many op calls came before, and what it writes."""
    log = PlanLog()
    kernel = TritonKernel("triton_poi_fused_add_0", SOURCE, log)
    log.begin(3)
    log.ops_recorded = 2
    kernel.run(torch.ones(4), torch.ones(8), torch.ones(2), 4, stream=0)
    log.end()
    (launch,) = log.launches
    assert launch.run is not None
    assert (launch.run.lowering, launch.ops_before, launch.written_bytes) == (3, 2, 24)
    assert log.current is None


def test_a_function_on_the_host_is_named_as_a_profile_names_it() -> None:
    """The name in the code carries the graph's number, which is no part of it."""
    log = PlanLog()
    CppKernel('Handle record_("graph_0_cpp_fused_mean_0", nullptr);', log)(torch.ones(4))
    (launch,) = log.launches
    assert (launch.kind, launch.name, launch.written_bytes) == ("cpp", "cpp_fused_mean_0", 0)


def test_says_a_thing_once() -> None:
    """A decision made for each of a hundred layers is one warning."""
    log = PlanLog()
    log.note("one", "text")
    log.note("one", "text")
    assert len(log.notes) == 1
