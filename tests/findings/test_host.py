"""What compiled code costs beside its kernels."""

import msgspec

from compdiff.findings.engine import find
from compdiff.model import SAME_TRACE
from tests.findings.timelines import EMPTY, GEMM_NN, MICROSECOND, TIMELINES, Side, row, shown, stat

LOOKUP, WRAPPER = "TorchDynamo Cache Lookup", "## Call CompiledFxGraph f4ii27 ##"


def test_the_parts_of_the_overhead_are_told_apart() -> None:
    """Self times of all events of compiled code count, once each; ops do not."""
    right = Side(
        row(60, name=GEMM_NN), op_stats=(stat(LOOKUP, 9), stat(WRAPPER, 41), stat("aten::mm", 70))
    )
    (found,) = find(*shown(Side(row(100)), right)).findings
    assert found.numbers == {
        "overhead_ns": 50 * MICROSECOND,
        "cache_lookup_ns": 9 * MICROSECOND,
        "wrapper_ns": 41 * MICROSECOND,
        "step_percent": 58.3,
        "saved_ns": 40 * MICROSECOND,
    }


def test_fusion_that_saves_more_pays_it_back() -> None:
    """The kernels became shorter by more than guards and wrapper take."""
    right = Side(row(40, name=GEMM_NN), op_stats=(stat(LOOKUP, 9), stat(WRAPPER, 41)))
    assert find(*shown(Side(row(100)), right)).findings == ()


def test_two_compiled_sides_are_not_weighed_against_each_other() -> None:
    """Where both sides have guards and wrapper, nothing says what compiling saved."""
    side = Side(row(100), op_stats=(stat(LOOKUP, 50),))
    assert find(*shown(side, side)).findings == ()


def test_one_trace_beside_itself_is_looked_at_once() -> None:
    """The same finding twice would read as two."""
    run, _ = TIMELINES["overhead-bound"]
    beside = msgspec.structs.replace(run.left, label=SAME_TRACE)
    (found,) = find(msgspec.structs.replace(run, right=beside), EMPTY).findings
    assert found.side == "left"


def test_work_on_different_devices_is_not_compared() -> None:
    """Another GPU may be slower: that is no price of the compiled code."""
    run, diff = TIMELINES["compiled-overhead"]
    other = msgspec.structs.replace(run.left, device_name="NVIDIA A100")
    assert find(msgspec.structs.replace(run, left=other), diff).findings == ()
